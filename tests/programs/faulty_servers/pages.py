"""Answer pong, after a look at each page of a file that is mapped. pages.py PORT FILE [--forget]

With --forget the pages are given back to the disk first, as when memory is short.
"""

import mmap, os, sys

sys.path.append(f"{sys.path[0]}/../servers")
from wire import answer_each

SIZE = 64 * mmap.PAGESIZE
port, name, forget = int(sys.argv[1]), sys.argv[2], "--forget" in sys.argv
file = os.open(f"{name}-{port}", os.O_RDWR | os.O_CREAT)
os.write(file, b"x" * SIZE)
os.fsync(file)
pages = mmap.mmap(file, SIZE, prot=mmap.PROT_READ)


def answer(*_):
    if forget:
        pages.madvise(mmap.MADV_DONTNEED)
        os.posix_fadvise(file, 0, SIZE, os.POSIX_FADV_DONTNEED)
    sum(pages[index] for index in range(0, SIZE, mmap.PAGESIZE))
    return 200, b"pong"


answer_each(port, answer)
