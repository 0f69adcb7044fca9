/** The parsed languages, by their names in `parsers` of svc.yaml and in the tools. */
export const LANGUAGES = [
  'typescript',
  'tsx',
  'javascript',
  'python',
  'go',
  'rust',
  'java',
  'c',
  'cpp',
  'csharp',
  'ruby',
  'php',
  'kotlin',
  'swift',
  'bash',
] as const;

export type SourceLanguage = (typeof LANGUAGES)[number];

const EXTENSIONS: Readonly<Record<SourceLanguage, string>> = {
  typescript: 'ts mts cts',
  tsx: 'tsx',
  javascript: 'js mjs cjs jsx',
  python: 'py pyi',
  go: 'go',
  rust: 'rs',
  java: 'java',
  c: 'c h',
  cpp: 'cc cpp cxx c++ hh hpp hxx h++ ipp tpp inl',
  csharp: 'cs',
  ruby: 'rb rake gemspec',
  php: 'php phtml',
  kotlin: 'kt kts',
  swift: 'swift',
  bash: 'sh bash',
};

const BUILT_IN: ReadonlyMap<string, SourceLanguage> = new Map(
  LANGUAGES.flatMap((language) => EXTENSIONS[language].split(' ').map((each) => [each, language] as const)),
);

/** Alternative names of languages, used by people and other tools. */
const ALIASES: Readonly<Record<string, SourceLanguage>> = {
  ts: 'typescript',
  js: 'javascript',
  jsx: 'javascript',
  py: 'python',
  golang: 'go',
  rs: 'rust',
  'c++': 'cpp',
  'c#': 'csharp',
  cs: 'csharp',
  c_sharp: 'csharp',
  rb: 'ruby',
  kt: 'kotlin',
  sh: 'bash',
  shell: 'bash',
};

/** Returns the language of a name or alternative name; null for an unsupported one. */
export function findLanguage(name: string): SourceLanguage | null {
  const lower = name.toLowerCase();
  return LANGUAGES.find((each) => each === lower) ?? ALIASES[lower] ?? null;
}

/**
 * Creates the function that determines a file's language by its extension; null for files that are not sources, or
 * unsupported.
 * @param parsers further extensions with their language from svc.yaml; they take precedence over the built-in ones
 */
export function createLanguageTable(
  parsers: Readonly<Record<string, string>> = {},
): (path: string) => SourceLanguage | null {
  const named = new Map(
    Object.entries(parsers).map(([extension, name]) => [
      extension.replace(/^\./, '').toLowerCase(),
      findLanguage(name),
    ]),
  );
  return (path) => {
    const dot = path.lastIndexOf('.');
    if (dot <= path.lastIndexOf('/') + 1) return null;
    const extension = path.slice(dot + 1).toLowerCase();
    const given = named.get(extension);
    return given === undefined ? (BUILT_IN.get(extension) ?? null) : given;
  };
}
