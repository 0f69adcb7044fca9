import type { OutputRecogniser } from '../recogniser.ts';

/** Frames of the language itself and of the test runner, below the program's frames. */
export const traces: OutputRecogniser = {
  kind: 'traces',
  isLate: true,
  evidence:
    /^[ \t]+at (?:.*\()?node:|^[ \t]+at (?:java\.base|jdk\.\w+|sun\.|org\.junit|org\.apache\.maven\.surefire|org\.gradle)|^[ \t]+at \/rustc\//,
  classes: [
    {
      what: 'more frames of the runtime',
      pattern: /^[ \t]+at (?:async )?(?:.*\()?node:[\w/:.]+\)?$/,
      keep: 'first-of-run',
    },
    {
      what: 'more frames of the runtime',
      pattern:
        /^[ \t]+at (?:java\.base\/|jdk\.\w+\/|jdk\.internal\.|sun\.reflect\.|java\.lang\.reflect\.|org\.junit\.|org\.apache\.maven\.surefire\.|org\.gradle\.|worker\.org\.gradle\.|com\.sun\.proxy\.)\S.*\)$/,
      keep: 'first-of-run',
    },
    {
      what: 'more frames of the runtime',
      pattern:
        /^[ \t]+at \/rustc\/[0-9a-f]+\/library\/\S+:\d+:\d+$|^[ \t]+\d+: (?:core|std|alloc|__rustc|test|rust_begin_unwind|<.* as core::)(?:::.*|$)/,
      keep: 'first-of-run',
    },
  ],
};
