import type { OutputRecogniser } from '../recogniser.ts';

/** States of one display on separate lines; the last one of a run shows the end. */
const EARLIER = 'earlier states of progress';

const transfers: OutputRecogniser = {
  kind: 'progress',
  evidence:
    /^[ \t]+% Total +% Received|^[ \t]+\d+[KM] [.,]{10}|\d+% ?[|[█▏▎▍▌▋▊▉#=━]|[|[][#=█>.\- ]{8,}[|\]] *\d+%|^[ \t]+[\d,.]+ +\d+% +[\d.]+[kMG]B\/s/u,
  classes: [
    {
      what: EARLIER,
      pattern:
        /^ *\d+ +[\d.]+[kMGT]? +\d+ +[\d.]+[kMGT]? +\d+ +[\d.]+[kMGT]? +[\d.]+[kMGT]? +[\d.]+[kMGT]? +(?:[\d:-]+ +){3}[\d.]+[kMGT]?$/,
      keep: 'last-of-run',
    },
    {
      what: EARLIER,
      pattern: /^[ \t]+\d+[KM] (?:[.,]{10} ?)+ *\d+% +[\d.]+[KMG] +[\d.hms=]+$/,
      keep: 'last-of-run',
    },
    {
      what: EARLIER,
      pattern: /^[^\n]{0,80}?\d+%(?:\||\s*\[)[█▏▎▍▌▋▊▉#=━> .\-\d]*[|\]].*$/u,
      keep: 'last-of-run',
    },
    {
      what: EARLIER,
      pattern: /^[^\n]{0,80}?[|[][█▏▎▍▌▋▊▉#=━>.\- ]{8,}[|\]] *\d+(?:\.\d+)?%.*$/u,
      keep: 'last-of-run',
    },
    { what: EARLIER, pattern: /^[#= -]* +\d+\.\d%$/, keep: 'last-of-run' },
    {
      what: EARLIER,
      pattern: /^[ \t]+[\d,.]+ +\d+% +[\d.]+[kMG]B\/s +\d+:\d\d:\d\d(?: \(.*\))?$/,
      keep: 'last-of-run',
    },
  ],
};

const spinners: OutputRecogniser = {
  kind: 'progress',
  // Each frame has another sign; a constant sign is the bullet of a list.
  evidence: /^([⠀-⣿◐◓◑◒]) \S.*\n(?!\1)[⠀-⣿◐◓◑◒] \S/u,
  classes: [{ what: EARLIER, pattern: /^[⠀-⣿◐◓◑◒] \S.*$/u, keep: 'last-of-run' }],
};

export const progress: readonly OutputRecogniser[] = [transfers, spinners];
