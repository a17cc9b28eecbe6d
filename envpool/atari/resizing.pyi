import numpy as np
import numpy.typing as npt

Bytes = npt.NDArray[np.uint8]

def brightest(a: Bytes, b: Bytes, table: Bytes, simd: bool = True) -> Bytes: ...
def resize(image: Bytes, height: int, width: int, area: bool = True, simd: bool = True) -> Bytes: ...
