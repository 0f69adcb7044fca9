import type { OutputRecogniser } from '../recogniser.ts';

const fetched = 'more downloads';
const installed = 'more packages';

const javascript: OutputRecogniser = {
  kind: 'packages',
  evidence:
    /^npm (?:warn|error|ERR!|http|verb(?:ose)?|sill(?:y)?|info|notice|WARN) |^added \d+ packages|^yarn install v|^➤ YN\d{4}|^Progress: resolved \d+/,
  classes: [
    {
      what: fetched,
      pattern:
        /^npm http (?:fetch|cache) (?:GET|POST) (?:200|304) \S+ \d+ms(?: \((?:attempt #1|cache \w+)\))*(?: \(cache \w+\))?$/,
    },
    { what: fetched, pattern: /^npm http cache \S+ \d+ms \(cache (?:hit|miss)\)$/ },
    {
      what: 'more npm notices',
      pattern:
        /^npm (?:sill|silly|verb|verbose) (?:fetch|placeDep|idealTree|reify|tarball|packumentCache|audit|logfile|cache|cli|title|argv|unfinished|stack|ADD|CHANGE|mark|add|run|gunzTarPerm|extract|buildIdealTree|finishing|config|pacote|node|npm|os)\b.*$/,
    },
    {
      what: fetched,
      pattern: /^➤ YN0013: (?:│ |. )?\S+ (?:can't be found in the cache and will be fetched.*|.*fetched.*)$/,
    },
    {
      what: 'earlier states of the installation',
      pattern: /^Progress: resolved \d+, reused \d+, downloaded \d+, added \d+(?:, done)?$/,
      keep: 'last-of-run',
    },
    { what: installed, pattern: /^npm info run \S+ (?:pre|post)?install node_modules\/\S+ .*$/ },
  ],
};

const python: OutputRecogniser = {
  kind: 'packages',
  evidence:
    /^(?:Requirement already satisfied:|Looking in (?:indexes|links):|Successfully installed \S+-\d|Installing collected packages:) |^(?:Collecting|Processing) \S+(?: \(from .*\))?\n[ \t]+(?:Downloading|Using cached|Obtaining|Preparing|Installing) /,
  classes: [
    { what: installed, pattern: /^(?:Collecting \S+|Processing \S+\.(?:whl|tar\.gz|zip))(?: \(from .*\))?$/ },
    { what: fetched, pattern: /^[ \t]+(?:Downloading|Using cached) \S+(?: \([\d.]+ [kMG]?B\))?$/ },
    { what: 'more packages already installed', pattern: /^Requirement already satisfied: .*$/ },
    {
      what: 'more lines of metadata',
      pattern:
        /^[ \t]+(?:Obtaining dependency information for|Link requires a different Python|Found link|Skipping link:|Fetching project page|Looking up "|Request header has|Getting page|Current age based on|Freshness lifetime|No cache entry available|Updating cache with|Caching due to|The response is).*$/,
    },
    {
      what: 'earlier states of downloads',
      pattern: /^[ \t]+[━╸╺─-]+ .*(?:[kMG]?B\/s|eta).*$/u,
      keep: 'last-of-run',
    },
    {
      what: 'more removed packages',
      pattern:
        /^[ \t]+(?:Attempting uninstall: \S+|Found existing installation: .*|Uninstalling \S+:|Successfully uninstalled \S+)$/,
    },
    {
      what: 'more installed files',
      pattern:
        /^[ \t]+(?:creating|copying|adding|changing mode of|Removing file or directory|Created temporary directory:?) .*$/,
    },
  ],
};

const rust: OutputRecogniser = {
  kind: 'build',
  evidence: /^[ \t]+(?:Compiling|Checking|Downloaded|Fresh|Locking) \S+ v?\d/,
  classes: [
    {
      what: 'more crates that were compiled',
      pattern:
        /^[ \t]+(?:Compiling|Checking|Building|Fresh|Dirty|Documenting|Adding|Updating|Unpacking|Locking|Downgrading) \S+ v\d\S*(?: \(.*\))*(?: -> v\S+)?$/,
    },
    { what: fetched, pattern: /^[ \t]+(?:Downloaded|Downloading) \S+ v?\d\S*(?: \(.*\))?$/ },
    {
      what: 'earlier states of the build',
      pattern: /^[ \t]+Building \[[=> ]*\] \d+\/\d+.*$/,
      keep: 'last-of-run',
    },
  ],
};

const jvm: OutputRecogniser = {
  kind: 'build',
  evidence:
    /^(?:\[INFO\] )?(?:Downloading|Downloaded)(?: from \S+)?: https?:|^\[INFO\] Scanning for projects|^Download https?:|^> Configure project/,
  classes: [
    {
      what: fetched,
      pattern: /^(?:\[INFO\] )?(?:Downloading|Downloaded)(?: from \S+)?: https?:\S+(?: \(.*\))?$/,
    },
    { what: fetched, pattern: /^Download https?:\S+(?:, took .*)?$/ },
    { what: 'earlier states of downloads', pattern: /^Progress \(\d+\): .*$/, keep: 'last-of-run' },
    { what: 'more empty lines', pattern: /^\[INFO\] ?$/ },
    { what: 'more rules', pattern: /^\[INFO\] -{20,}$/ },
  ],
};

const debian: OutputRecogniser = {
  kind: 'packages',
  evidence:
    /^(?:Get|Hit|Ign|OK|Holen|Réception de|Obj):\s?\d+ (?:https?|file|cdrom)|^(?:Selecting previously unselected package|Setting up|Unpacking) \S+|^\(\d+\/\d+\) (?:Installing|Upgrading|Purging) \S+ \(/,
  classes: [
    {
      what: fetched,
      pattern: /^(?:Get|Hit|Holen|OK|Réception de|Obj|Des|Atteint) ?:\s?\d+ (?:https?|file|cdrom)\S* .*$/,
    },
    {
      what: installed,
      pattern:
        /^(?:Selecting previously unselected package \S+|Preparing to unpack \S+ \.\.\.|Unpacking \S+ (?:\(.*\) )*\.\.\.|Setting up \S+ \(.*\) \.\.\.|Processing triggers for \S+ \(.*\) \.\.\.)$/,
    },
    {
      what: 'earlier states',
      pattern: /^\(Reading database \.\.\. *\d*%?$|^Progress: \[ *\d+%\].*$/,
      keep: 'last-of-run',
    },
    {
      what: installed,
      pattern: /^\(\d+\/\d+\) (?:Installing|Upgrading|Purging|Downloading) \S+ \(.*\)$|^fetch https?:\S+$/,
    },
  ],
};

const others: OutputRecogniser = {
  kind: 'packages',
  evidence:
    /^(?:go: downloading |Fetching gem metadata from |Bundle complete! | {2}- (?:Downloading|Installing|Locking) \S+ \(|[ \t]+(?:GET|CACHE) https?:\/\/\S+ )/,
  classes: [
    { what: fetched, pattern: /^go: (?:downloading|finding|extracting) \S+ v\S+$/ },
    { what: installed, pattern: /^(?:Fetching|Using|Installing) \S+ [\d.]+\S*(?: with native extensions)?$/ },
    {
      what: installed,
      pattern: /^ {2}- (?:Downloading|Installing|Locking|Upgrading) \S+ \(.*\)(?:: Extracting archive)?$/,
    },
    { what: fetched, pattern: /^[ \t]+(?:GET|CACHE) https?:\/\/\S+(?: \d+ms)?$/ },
  ],
};

export const packageManagers: readonly OutputRecogniser[] = [javascript, python, rust, jvm, debian, others];
