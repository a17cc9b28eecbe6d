"""The glyphs of CarRacing's displayed reward: pygame-ce's default font at 42 pixels, as numbers.

The font is FreeSansBold, rasterised by pygame-ce 2.5.8. With the glyphs stored as numbers, drawing needs no font
library, and the result does not depend on the library's version.
"""

from __future__ import annotations

import base64
import zlib

#: The characters, in the order of the tables below.
CHARACTERS = "0123456789-"

#: Size of a glyph in pixels; the right part of a narrower glyph is empty.
WIDTH, HEIGHT = 23, 46

#: Size of the font in pixels.
SIZE = 42

#: Distance from the start of a glyph to the start of the next one, in pixels.
ADVANCE = (*[WIDTH] * 10, 13)

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
    "c-rlnX>?W96~}jYWP*@E=0FhyQwe3TT`G~G3N%##rL+|aip(xVD7Lhzq9~<S)G!-RmpB!QB_Obv3t38-0vSj`Bp5=#keGo?1TwrllG}6kKIgu3&%"
    "OPY78mR7FK?e;Ufw<D-ZT97-WQ<N%x}c{j1o`H*@TfQjY>A89lh72qZ<sb)eIN(!JCF^*XjGgm#BH=L@_z3ejG1AzcQ9xcyc}Z6FJUCm%8u_`umx"
    "84|)g1b<XjIyFI{k#PbDSfvraY)}S*?;NM|u5x{<Qx(hrMTM6=tZ3U()?E?6of7Z$YcSL*~0Ebv6aXZB406hG&NMaY_JOCQFdE2mA0C0<cekW;L#"
    "1{eT_-C=i!H9DJO894$#Nmif0Oat`TN3w1ya(VAI(G^DGi+@Dcn_WX1^z9zUILhn&NP9SVe1iq`_S1Ua4K&!1~V^@drgCp{tCado4bETxA0+3Z=n"
    "AK$00@Zz%L#XPO|9K4a+<!?k%npTd&aaXzv_6ZqmfAmKmFnQR*%}vtkJN?1yPFmicemmyY-a!vTk_ZPBoQ#K6g$Y7K2|fjXsH8>@fy;X4Aq!EKRm"
    "g|@0av@+$Ir{>$FxF`kQ_my`|Z8i7rQMKw?s}x&!zw4Hx!6@m2cptSIvrh_%@fD{(CVvO}&5(HVe{P;enF08po3QZ#^R}Zmi>@;O8(GXtM^E+_bx"
    "k#ME+P&Q7|$;cbFLtkW59E)Lca;rtu!4|4_9e)lpFCND;+~OC(%l0H6bnPtir(eY2?=iTKaI7XkoNUXNbF((p`Ze{}T6lLx4i>&LMbniuwb63W??"
    "qP-$?kINl>H-Tgb!!$B6>p^mz1{VvQDTHuIc41a3ajo~b3T<(nB&e&(S!5(-c`BH5|VS2*2Krf6w;C(O!6V0Vz4JZC4exN~nlDLQaiRs#qkz7Jve"
    "Gk5l$bY8;)8x-IqQ8XUmFR7zAAA`b|7Kp28aGfNaNZ0_grW|>MmF<KmvU=ExRaFMR-24?wnn>RM07bsW$gzpF6Fdtm`bmRF_sMlC;TTrM{Jyobi_"
    "vfj}+V{xM%EVEtbH_wDB0v7^8LmHsaMfrrk7!DYzH8`B@^Ed;r?b!UXOngQgrAu%SJNt-Syrp|g`{#AR%~0`LnO!+YU8g2+U_xi5S2r--}LlMBQ!"
    "H{lLgq0N(TLMceKo-ir$K#ELMPNTTC%JCJKlvm@a%KCgth;RAcW_#9AnTM7*;<b)Ce$Xu^?03vj_47G--G;;XN?mBf>sdS9rQ;#&dd&~$D%9@;B_"
    "A|AgSAS-bR1sBT2pLNHi0#c*c9&l%}ggn=@?hZGMgTr#iR2e9Y^qUG}fk`H!|-FyQpT@Gcv@9O?xmN-G<?K>b45@MHD{MZId=jb`d_|j4K>*XTuS"
    "Xz}%lAOlcv_VYDUK){&KJCeUj<g!$TzxfJ-wMuYgGinHNCyd%F3U;K52`|8Qp`bqpW$LnfDpPS=_;9jZ?=5%|+|I`P005wd8NZO{JtQ346-#1W$d"
    "0t{a*=9}^X%T;bUg*6nGO47mC$O)CaFfUXM#O9NK|F%kb}M>FRbVyJTNiZPQU1uZ>CB$C{`OXYYV5W=#Xm&+0>CM6a*`=YJPBG@Ec6=U??&)s>{P"
    "mse530kLe#6tsZ}D?-Oa01yw>m-{oveYOZt11?A6FL6SnN=p&UA+;?G=ds4qIaw6Aadwyq71KU3B0E;_YbO$~S4sw5)1N!s(G`qT=<qX^2jKI2Oi"
    "uDnaFs?%wtkd1{X=y3(q&t&th>mixV2ly+x<4E6A6@)*1jG+&Rt3SM$TOXM<_>Df0d6uGuX_(G$vJD&KsA~XYca<8|=eJDoCwu`@0TFxTU^0J-7-"
    "dt%Ib|aA6#%ui6Ss!n6ptB29FszOpBHEG8y$0j8qolxnu^2mLS0Cpy)LRMW<c}@S>QR3PJ|_ak}1+Ym1c+}t14?OHJDHec|;1KIoMM9*eN#_d1F^"
    "&>s97qhU8n?6MxcRW?@KTrt=!dFH60d9M?Hn%MdA$mKglc{#wFnnUrCrDqU_qp<dfeSU6sNbVHV>6uWElHcx8nTfILdJK|*jLwS2y?*PvBy20R-F"
    "Po&%ftcgisL?>&%d&$sjC)y=UOS^x@pX;5FynS1K*KL$FJd(sS}7uVtKlizq7Nhlzr5YC7Gw<7ak@w}XuCard5(_X#GG-cjx%Ld*+GBIcaAt8a@>"
    "EL+vyl9rMWr{#Juee=d6iM{7po>Qpc30TB_r*7<I(>)@iGo-<S_FE1Sx5KAxn``VrpL^JP<Z!rWWx5`I(AsoK*13#GrR>HNq&D$?d26!LNCZ|}w2"
    "C`yN};}{j|0g}|NL+11<RcGZeR3F^KZUm|4<xTG46*~!h7be5Zs*2n~rkJztDGYB(a&)=MH=my9@5HkFg1ZAEr*qmgK`5oY>KM}=G;hi(1t&>`8?"
    "f4=e!Y&gc!wnIR=H6;|AQpibCChP7En}Dz>fEk6o1or`cfqKEWpR;$Y=6L842Jk3m$n-`cWh#-sAY*jJKq;z~V%m#1V*30pz12D=gz>afYfBU((a"
    "@rwHnKfJbQz+jzG1UdoBMdHVREP!2iCd19EapnANb4L-?5JJL56nkW<Ip)0&8@UmG-3b@;x9k~^r>hqsX4)iVG|APh3_#(fysXTdUZ%dWV%q@7<n"
    "FoaHbIT%;6}&Ch2Y-g9=`<0@=N>1yObPe)Wh8W?*w*wUR=PaAI7+Yb6oxA2|NG3_Y=-cr>b=%RygFsb*k?GlVnpGr#;i{u{=Lxl<_k&wlz#`n2)R"
    "+>?y`hH+nHSG<K)`eY?fWP?UrFaZH{#V)SdDYKs#FJHx@+(^^X_vG%v!;w=1PoUc}g~0Q&k-yjkAY)>`H%wN%%uqNr3giC(07OKz4^*Cg)$WNtV_"
    "Bc7>0>j{?kr%b~eTh7+t*iX4VE;hMh`TEpswZ5{%tas4+RmQ3?Hi?#Cx6k4?M5VkjD@6ohv^_@GSx3G>TzzznO1HXXulgVHhHeYh8qx6hw34R!f?"
    "dyd@U32--BI>m3Iw+S`|M7){{S@NB(e"
)


def brightness() -> bytes:
    """Return the brightness of the glyphs' pixels: uint8 (11, 46, 23)."""
    return zlib.decompress(base64.b85decode(_PACKED))


def kerning() -> list[int]:
    """Return the distance added between two glyphs in 1 / 64 pixel: (11, 11) by first and second glyph, flattened."""
    return [round(KERNING.get(a, {}).get(b, 0) * SIZE * 64 / 1000) for a in CHARACTERS for b in CHARACTERS]
