/* The C interface of libnethack.so of nle 1.3.0, which has no header in its wheel, and what is kept of a copy of it. */
#ifndef ENVPOOL_NETHACK_INTERFACE_H
#define ENVPOOL_NETHACK_INTERFACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Numbers of the arrays that the game fills, in the order of its struct. */
enum {
  NH_GLYPHS,              /* int16 (21, 79)      */
  NH_CHARS,               /* uint8 (21, 79)      */
  NH_COLORS,              /* uint8 (21, 79)      */
  NH_SPECIALS,            /* uint8 (21, 79)      */
  NH_BLSTATS,             /* int64 (27)          */
  NH_MESSAGE,             /* uint8 (256)         */
  NH_PROGRAM_STATE,       /* int32 (6)           */
  NH_INTERNAL,            /* int32 (9)           */
  NH_INV_GLYPHS,          /* int16 (55)          */
  NH_INV_STRS,            /* uint8 (55, 80)      */
  NH_INV_LETTERS,         /* uint8 (55)          */
  NH_INV_OCLASSES,        /* uint8 (55)          */
  NH_SCREEN_DESCRIPTIONS, /* uint8 (21, 79, 80)  */
  NH_TTY_CHARS,           /* uint8 (24, 80)      */
  NH_TTY_COLORS,          /* int8 (24, 80)       */
  NH_TTY_CURSOR,          /* uint8 (2)           */
  NH_MISC,                /* int32 (3)           */
  NH_NUM_ARRAYS
};

/* Data that the game and its caller exchange at each key. */
typedef struct nh_exchange {
  int key;                     /* in: the key that is pressed                                                     */
  int done;                    /* out: nonzero: the game is over                                                  */
  char in_normal_game;         /* out: nonzero: it has begun and is not over                                      */
  int how_done;                /* out: how it ended                                                               */
  void *arrays[NH_NUM_ARRAYS]; /* out: memory of the caller; NULL: this array is not wanted                       */
} nh_exchange;

typedef struct nh_seeds {
  unsigned long seeds[2];  /* core and disp                                                                       */
  char reseed;             /* nonzero: the game seeds itself from the system now and then                         */
  bool has_seeds;
  unsigned long level_seed;
  bool has_level_seed;
} nh_seeds;

typedef struct nh_settings {
  char folder[4096];       /* of the files of this game; the game data `nhdat` is there, too                      */
  char score_prefix[4096]; /* "": the score file is in `folder`                                                   */
  char options[32768];     /* as in the variable NETHACKOPTIONS                                                   */
  char wizkit[4096];
  int spawn_monsters;
  char recording[4096];
  nh_seeds initial;
  bool fix_moon_phase;     /* the phase of the moon follows from `time_seed`, instead of the clock                */
  unsigned long time_seed;
  bool has_time_seed;
} nh_settings;

_Static_assert(sizeof(nh_settings) == 0xc048, "the library copies this many bytes");

typedef struct nh_context nh_context;
typedef nh_context *(*nh_start)(nh_exchange *, FILE *recording, nh_settings *);
typedef nh_context *(*nh_step)(nh_context *, nh_exchange *);
typedef void (*nh_end)(nh_context *);

#define NH_WHY_BYTES 256
#define NH_NUM_REPLACED 13 /* functions that are replaced in every copy, see copy.h */

/* A call of a function of another library, which is replaced. */
typedef struct {
  void (**slot)(void); /* in the table of the copy; NULL: not replaced yet                                        */
  void (*original)(void);
} nh_call;

/* One copy of the library, see copy.h. */
typedef struct nh_copy {
  void *handle;        /* of dlopen(); NULL: not loaded                                                           */
  int file;            /* memory file of the copy. It stays open, since the loader knows the copy by its name     */
  char *base;          /* address of the copy                                                                     */
  char *data;          /* writable data, without those that are read-only after loading (data_size)               */
  size_t data_size;
  char *initial;       /* what `data` contained after loading (initial_size); zeros follow                        */
  size_t initial_size;
  nh_start start;
  nh_step step;
  nh_end end;
  void (*close_data)(void); /* closes the game data, if they are open                                             */
  void **windows;      /* NetHackRL::instance, a unique_ptr: the windows of the game; NULL: it has none           */
  void (*drop_windows)(void **windows); /* the destructor of the unique_ptr                                       */
  int has_left;        /* nonzero: the game wanted to end the process                                             */
  nh_call calls[NH_NUM_REPLACED];
  struct nh_block *blocks; /* head of the list of what the game has allocated, see heap.h                         */
  nh_context *context; /* of the game that is played; NULL: none                                                  */
  char why[NH_WHY_BYTES];
} nh_copy;

#endif /* ENVPOOL_NETHACK_INTERFACE_H */
