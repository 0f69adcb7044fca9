import type { OutputRecogniser } from '../recogniser.ts';

/** Compilers underline their findings; the message gives the position. */
const UNDERLINE = { what: 'more underlines', pattern: /^[ \t]*(?:\d+ )?\|?\s*[~^]+[~^ ]*$/ } as const;
const GUTTER = { what: 'more empty rows next to source', pattern: /^[ \t]+(?:\||│)\s*$/ } as const;

/** Steps of ninja, swift and others; similar numbering of other programs may be a list. */
const STEP =
  /^\[\d+\/\d+\] (?!.*(?:error|warning|FAILED))(?:Building|Compiling|Linking|Generating|Creating|Copying|CXX|CC|LINK|AR|STAMP|ACTION|COPY) \S.*$/i;

const typescript: OutputRecogniser = {
  kind: 'compiler',
  evidence: /(?:\(\d+,\d+\)|:\d+:\d+ -):? ?error TS\d+:/,
  classes: [UNDERLINE],
};

const rustc: OutputRecogniser = {
  kind: 'compiler',
  evidence: /^(?:error|warning)(?:\[E\d+\])?: .*\n[ \t]+--> \S+:\d+:\d+/,
  classes: [GUTTER],
};

const linters: OutputRecogniser = {
  kind: 'linter',
  evidence: /^[ \t]+\d+:\d+ {2,}(?:error|warning) {2,}\S|^✖ \d+ problems?|^Found \d+ (?:errors?|warnings?)/,
  classes: [UNDERLINE, GUTTER],
};

const compilers: OutputRecogniser = {
  kind: 'build',
  evidence:
    /^(?:(?:\S+-)?(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+|ld|ar)(?:-\d+)? -|\[ *\d+%\] (?:Building|Linking|Built)|\[\d+\/\d+\] (?:Building|Compiling|Linking|Generating|Creating|Copying|CXX|CC|LINK|AR|STAMP|ACTION|COPY) \S|make(?:\[\d+\])?: |-- (?:Looking for|Check|Detecting|Performing)|checking (?:for|whether) |\s+(?:CC|CXX|LD|AR|GEN|CCLD) {2,}\S)/,
  classes: [
    {
      what: 'more commands',
      pattern:
        /^(?:libtool: \w+: +)?(?:\S+-)?(?:gcc|g\+\+|clang|clang\+\+|cc|c\+\+)(?:-\d+)? (?!.*(?:error|warning):).* -(?:o|c) .*$/,
    },
    {
      what: 'more steps',
      pattern: /^\[ *\d+%\] (?:Building \S+ object|Generating|Linking \S+|Built target|Automatic) ?\S.*$/,
    },
    { what: 'more steps', pattern: STEP },
    {
      what: 'more steps',
      pattern: /^[ \t]+(?:CC|CXX|LD|AR|GEN|CCLD|AS|HOSTCC|MKDIR|INSTALL)(?: \[M\])? {2,}\S+$/,
    },
    {
      what: 'more folders entered and left',
      pattern: /^make(?:\[\d+\])?: (?:Entering|Leaving) directory .*$/,
    },
    { what: 'more targets with nothing to do', pattern: /^make(?:\[\d+\])?: Nothing to be done for .*$/ },
    {
      what: 'more successful checks',
      pattern:
        /^-- (?:Looking for .+ - found|(?:Looking for|Check(?:ing)?|Detecting|Performing Test) (?!.*(?:not found|[Ff]ailed|not ))[^-]*(?:- done|- [Ss]uccess|- works|- yes)?)$/,
    },
    { what: 'more successful checks', pattern: /^checking .*\.\.\. (?:\(cached\) )?yes$/ },
    UNDERLINE,
    GUTTER,
  ],
};

const bundlers: OutputRecogniser = {
  kind: 'build',
  evidence: /^vite v\d|^asset \S+ [\d.]+ (?:bytes|[KM]iB)|^webpack \d|^[ \t]*dist\/\S+ +[\d.,]+ kB/,
  classes: [
    {
      what: 'earlier states of the build',
      pattern:
        /^(?:<s> )?\[webpack\.Progress\].*$|^\d+% (?:building|sealing|emitting|setup|active|cache|finish)\b.*$/,
      keep: 'last-of-run',
    },
  ],
};

export const builds: readonly OutputRecogniser[] = [typescript, rustc, linters, compilers, bundlers];
