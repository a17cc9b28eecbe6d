"""The glyphs of CarRacing's displayed reward: pygame's default font at 42 pixels, as numbers.

The font is FreeSansBold, rasterised by pygame 2.6.1. With the glyphs stored as numbers, drawing needs no font library,
and the result does not depend on the library's version.
"""

from __future__ import annotations

import base64
import zlib

#: The characters, in the order of the tables below.
CHARACTERS = "0123456789-"

#: Size of a glyph in pixels; the right part of a narrower glyph is empty.
WIDTH, HEIGHT = 23, 42

#: Distance from the start of a glyph to the start of the next one, in pixels.
ADVANCE = (*[WIDTH] * 10, 14)

#: By first and second glyph: the distance added between them, in 1 / 1000 of the font's size.
KERNING = {
    "0": {"0": 58, "2": 73, "3": 75, "5": 79, "8": 65, "9": 80},
    "1": {"1": -85, "7": -65},
    "2": {"0": 84, "3": 70, "6": 77, "8": 70, "9": 91},
    "3": {"0": 70, "2": 61, "3": 87, "5": 88, "6": 66, "8": 77, "9": 78},
    "4": {"0": 89, "2": 59, "3": 92, "5": 89, "6": 86, "8": 97, "9": 80},
    "5": {"3": 73, "5": 77, "8": 63, "9": 77},
    "6": {"0": 66, "3": 82, "5": 87, "6": 62, "8": 73, "9": 81},
    "7": {"4": -62},
    "8": {"0": 65, "2": 69, "3": 81, "5": 85, "6": 61, "8": 71, "9": 86},
    "9": {"2": 70, "3": 65, "5": 69, "9": 70},
}

#: Brightness (glyph, row, column), compressed.
_PACKED = (
    "c-rlne^gb)7RNXD$^{e<#83fwWJ+RK8c%ciqcTaWS7e5o(bHFks|DE)(sX5-KkAk5X_1DdA-xQcQqv5zACl`;`qX-&PkInwqJZU(fItu~a8GCU%$"
    "zeb=d@O<wOqOE?!WeY*4%Su=FH6g&YlbK8|>Pb4%WIG4rL~Yut%Q8ZELte|8!C_?L<Fbw^S3YJc!~vO}00YUgN>STX6w{-$SnhAM*<O>xk>K3H@c"
    "n|BiU)!|<1p?WAx-_xfUm57_JfO$wgw0Cyo?z%YH{jR14ena1#=Sb7*>6*@OFJQ+)i0SeF=%5Wl<)&T56=PHIrU@4EiTZ?9RC><|=edt8+0mf1x$"
    "GsUIjHMj_pG&o`$I>={kI{)?csP~{0O+V)!|*LwdIR7!bVe~e2}?@>=Ako*;YYBP3UCiPPci%tK2$O2<TCsjDRhSDUN!N~`XlYrN(zUFn}yY1LY#"
    "~KB6AqD)&2eB^U-tn#VVVW39*{KChUYnzYb)tA9zZj-<p%KPoY8A28wfbMAnf;ckTXV1Ho&*!pMxOvf_W);t3u*oZO^YaMz?y=*KZ}_{PGLHvY{_"
    "++Y0czZG|zNKMmh+wH}d5B8dD{wW1zP44dx=T8k5Xvz=9Drrb_aJov`V?T0HI#1b=H)H*NtqLX)1K?G3+g^zEi+cJessKp!8gw7P=Z&PRe2lIX&?"
    "yE{3e4s4bP>Zdu=FaAz7H`xp38;%(3!|^5|)+&gpME<%J4IYXDVakC_&s$!3${j75W72*$@eKq5ainOSCtQ_}ViPy`7G^`(f$xum_wPBhvVzlz!S"
    "vr1zeuT4<p|q%%8_o=cQpMrqlV6760~<Kz``*A^l5j8I0WTC><<BXFyDwmn{LkKeb)e;^B=wY{vawdTKB6MRkRJMX+P93{q#aP1U_$@5o+3*_NzA"
    "BXgAR&?_xmE&yLgZ}OW9~eNjp*CKp!Kkx~u>}sQF#oQ*H=;M4zUBceYy`g228-%;lkTOW7cSyV-3yH;#-{2_Nnvtxenn`lpG-sF#maYxEMsM13(k"
    "Fc3Da#wYnuReSSuc8i?z19q}jh_Q#s?ql?INZOJJY+@vdq_K1}5+5zkTaorrS)o-5Gp9gatFA-!E3L70Z66#y@z^EZY+#L|=cHh@lL2+}FE<?#Rk"
    "4d|67hq+>3?4VPK)L3X)XxMwdFBH0tozsp=G}Fm9s^#qlJULD1Ttxb=()#wg!|NxyywUboSQ;I}!!o_1&KAF=+2N5MJM28H+2O~@q_E)LdT{Pcv|"
    "w^T%L-BPO?vT%5EXYR!H}-vIeKXis5nwT1i0fYnCwL_f{IDIs=BJ!Ri^t%pkfl*w}XnKn>DQ^#)7w+QCY+tHsR>p#l?b!*nRm+346`7xyq+pAum("
    "~AF#(i+2X#MEk>mqYiS74qpeO0UT6OSztnNQ75_+bVS%%Y&bC$WU0`U%UgV8$pXS11DN`t8mF9g+dAi!{95C}fqTOZ+k)p97U59O^_#nZkjd#=T%"
    "%^-13BZZEaS@DaK}!Q$Vg80C8DR(%$&AdIY&Y>3xN4hjTe!l067dq=>_JQ!7h@@r2Yi+bqwTKi0x+8PV9UsELBrqH3|$3#)gi%M4&oYQTF->VaEY"
    "HWa<Bci8L%@?)bc}@d|B0eq2|+tF@MCR*=2HmMQeNQf#;<&TH-N7IdAA`&~%S5vj6YH6TBYjI~3Dt(5Ie_HJ8-)Azn*o?=3FqPmeSEQN5y0J=hH+"
    "GM)oFf>;#Rv>RAbH<K9oM!SqOsnijam#?Up=7JwpF;)DNAug+;v$=fBBwumrj$iENorx3DxQEP6HpUbDnq{>fCuipzYwTJnWbL!B3+VMA-6xuZXj"
    "ae&uu+uX53mNEBM#*}zXF{M){7u)=T5$gM)Tf%#{@VPx<=L(J5U6WfY>;>*0TI}K&z3FAWgx;@XNZln>b%EybOPvWQ^4lNdJsKZ6itJV7mU+4+)5"
    "TyipLz&niRGM6>nIJreDl%-$1NBv9c5<F};6xDFXDe$mK`q7xUIDsz*a-gx_qw%<lq>F1z}hCNp*4VcbjgJcOfeReuz8i>>QR8OUHHa<8}p||6MS"
    "1Ghx6|Txa1+TCkmUWADv)d%uw&D!DTA@RPs4W=g2|CnXN8?(0SFOBIUWeQ&jbo^2H(=$bRlHcbJ~Iq8RH;fsu^nseqy8-W<|U{Y&(v<qxfL%kkE="
    "8QgTr3S&8WT3Naov|vb6^iyX;TO&O5UISJ!^#X!gBAb_;I%*1Z2sGU$9M=+2i^ooSCD9iV2NTVu>caPpx@--uM2;>6%tLA+`zka}W{r%d;JF#kM*"
    "y$9n;yN@1#q}dmRCB5;^7BTKbpuz(lNm9j>%?{$>^>R%ly|cs>dk^{>P{E}~yLwNrV)wr|9p03Bli!sO%Ig9(c7pCZq}q9OFX&mUjLAOC^ixezof"
    "_rpJNrkCFWOrvr45XxA$lxp9?Q@35S_!qX-fd#f$%7M0-T+ED5>EUY#Rh?@<OeoL+FFQYT}{Hh2wb^fac!+A}yD%0WxWJs|U?e(7zHq2QZLMl9~r"
    "2Tv4-VR<2_JaBU&la=c&sk3#p-d+DIhC0fYG+c(3M+UL@Q%{wGzW67EJ`qFn&{JkNU57zy86^-uGMRTNZHql70Hf8u2bcs0JxqK2R0*dXD*LSis?"
    "0NCPh(}jV`)ZT}VmG4ujgN8DThSfNTPL!mWQhOc@WWH(dt9)#`iqOJ&cPP(H@vO%3gcRUVnfZF`PgItoKxj;9&bL&-d^A{X)WJ=sJfg=Y4ABNAIH"
    "%Jh(qVYvIe=vWlL>JkHC>1vhM3T7G_z62np2A&ny`KC=pg^g7v~5FT(hVu_JAqbcz_0UDD8YJZCVwT~l=gyZloX1K@|Kcc{DmX@0i8vxFFX+Ejc-"
    "I(eJ$pPX=<FD+!DyQsL{Fv!2hl;gDRSmmEe7n|ws9DGd1kFeJdkoZ!gS-lF32=o0EvAx&5aNv}?<=EyK-nH$ui)iL$yY~F=i@kO!*v|~`W~B"
)


def brightness() -> bytes:
    """Return the brightness of the glyphs' pixels: uint8 (11, 42, 23)."""
    return zlib.decompress(base64.b85decode(_PACKED))


def kerning() -> list[int]:
    """Return the distance added between two glyphs in 1 / 64 pixel: (11, 11) by first and second glyph, flattened."""
    return [round(KERNING.get(a, {}).get(b, 0) * HEIGHT * 64 / 1000) for a in CHARACTERS for b in CHARACTERS]
