import numpy as np
import numpy.typing as npt

def resize(image: npt.NDArray[np.uint8], height: int, width: int, area: bool = True) -> npt.NDArray[np.uint8]: ...
