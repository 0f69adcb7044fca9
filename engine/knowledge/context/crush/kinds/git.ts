import type { OutputRecogniser } from '../recogniser.ts';

const EARLIER = 'earlier states of progress';

export const git: OutputRecogniser = {
  kind: 'git',
  evidence:
    /^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Writing|Unpacking|Checking) (?:objects|connectivity)|^Resolving deltas|^Updating files|^ {2}\(use "git /,
  classes: [
    { what: 'more hints', pattern: /^[ \t]+\((?:use "git |commit or discard).*\)$/ },
    {
      what: EARLIER,
      pattern:
        /^(?:remote: )?[A-Z][a-z]+ [a-z]+: +\d+% \(\d+\/\d+\)(?:, [\d.]+ (?:bytes|[KMG]iB)(?: \| [\d.]+ (?:bytes|[KMG]iB)\/s)?)?$/,
      keep: 'last-of-run',
    },
  ],
};
