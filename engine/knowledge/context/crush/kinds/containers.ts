import type { OutputRecogniser } from '../recogniser.ts';

const build: OutputRecogniser = {
  kind: 'containers',
  evidence:
    /^#\d+ (?:\[|DONE|CACHED|sha256:|naming|exporting|transferring)|^ ---> [0-9a-f]{12}$|^Step \d+\/\d+ : |^ ?=> (?:CACHED )?\[/,
  classes: [
    {
      what: 'earlier states of layers',
      pattern:
        /^#\d+ (?:sha256:[0-9a-f]+ [\d.]+[kMG]?B \/ [\d.]+[kMG]?B.*|extracting sha256:[0-9a-f]+(?: [\d.]+s)?(?: done)?)$/,
    },
    { what: 'more finished steps', pattern: /^#\d+ (?:DONE [\d.]+s|CACHED)$/ },
    {
      what: 'more transfers',
      pattern:
        /^#\d+ (?:transferring \w+: .*|resolve \S+(?: [\d.]+s)?(?: done)?|(?:exporting|writing|naming|unpacking|pushing) \S.*)$/,
    },
    {
      what: 'more intermediate images',
      pattern:
        /^ ---> (?:Running in )?[0-9a-f]{12}$|^ ---> Using cache$|^(?:Removing intermediate container|Removed intermediate container) [0-9a-f]{12}$/,
    },
    {
      what: 'earlier states of steps',
      pattern: /^ ?=> => (?:sha256:|extracting|transferring|resolve|exporting|writing|naming).*$/,
    },
  ],
};

const layers: OutputRecogniser = {
  kind: 'containers',
  evidence:
    /^[ \t]*[0-9a-f]{12}:? (?:Pulling|Waiting|Download|Verifying|Extracting|Pull complete|Already|Push|Layer|Preparing|Mounted)/,
  classes: [
    {
      what: 'more states of layers',
      pattern:
        /^[ \t]*[0-9a-f]{12}:? (?:Pulling fs layer|Waiting|Downloading|Download complete|Verifying Checksum|Extracting|Pull complete|Already exists|Pushing|Pushed|Layer already exists|Preparing|Mounted from \S+)(?: .*)?$/,
    },
  ],
};

export const containers: readonly OutputRecogniser[] = [build, layers];
