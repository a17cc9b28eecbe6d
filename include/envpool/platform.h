/* Which system calls the code may use.
 *
 * A portable build uses only what POSIX has, and a few calls that macOS has as well. It is made where there is no Linux,
 * and on Linux with ENVPOOL_PORTABLE=1 in the environment of setup.py, so that its code can be tested there. Each kind of
 * system call has one place with two versions: futex.h and parking_lot.h, envpool/_core/threads.h and pages.h,
 * envpool/python_envs/descendants.h and parent.h, and in Python envpool/_support/memory_files.py and machine.py,
 * envpool/python_envs/processes.py. */
#ifndef ENVPOOL_PLATFORM_H
#define ENVPOOL_PLATFORM_H

#if !defined(__linux__) && !defined(ENVPOOL_PORTABLE)
#define ENVPOOL_PORTABLE 1
#endif

#endif /* ENVPOOL_PLATFORM_H */
