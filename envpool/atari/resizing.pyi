import numpy as np
import numpy.typing as npt

_Bytes = npt.NDArray[np.uint8]

def brightest(a: _Bytes, b: _Bytes, table: _Bytes, simd: bool = True) -> _Bytes: ...
def resize(image: _Bytes, height: int, width: int, area: bool = True, simd: bool = True) -> _Bytes: ...
