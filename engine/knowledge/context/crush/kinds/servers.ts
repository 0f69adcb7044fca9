import type { Recogniser } from '../recogniser.ts';

/** What build servers and tools of operation put around the output of others. */
export const servers: Recogniser = {
  kind: 'ci',
  evidence:
    /^##\[(?:group|endgroup|section|command)\]|^::(?:group|endgroup)::|^section_(?:start|end):\d+|^\[Pipeline\] |^\S+: (?:Still creating|Refreshing state|Still destroying)\.\.\.|^(?:TASK|PLAY) \[/,
  classes: [
    { what: 'more ends of groups', pattern: /^(?:##\[endgroup\]|::endgroup::|section_end:\d+:\S+)$/ },
    { what: 'more steps of the pipeline', pattern: /^\[Pipeline\] (?:\}|\{.*|\/\/ \w+|End of Pipeline)$/ },
    {
      what: 'earlier states',
      pattern: /^\S+: Still (?:creating|destroying|modifying|reading)\.\.\. \[.*\]$/,
    },
    {
      what: 'more states that were read',
      pattern: /^\S+: (?:Refreshing state\.\.\.|Reading\.\.\.|Read complete after \d+s)(?: \[id=.*\])?$/,
    },
    { what: 'more tasks without change', pattern: /^(?:ok|skipping): \[[^\]]+\]$/ },
  ],
};
