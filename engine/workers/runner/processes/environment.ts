/** The only variables that a worker inherits from the host's environment (R10). A name that ends with `*` is a prefix. */
const ALLOWED: readonly (readonly [why: string, names: readonly string[]])[] = [
  // the ordinary shell
  ['to find programs and write files', ['PATH', 'HOME', 'TMPDIR', 'TMP', 'TEMP', 'SHELL']],
  ['the user name, for tools that need it', ['USER', 'LOGNAME', 'HOSTNAME']],
  ["the user's encoding, language and time zone", ['LANG', 'LANGUAGE', 'LC_*', 'TZ']],
  ['colour and width of output', ['TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR', 'CI']],
  ['configuration folders of programs', ['XDG_*']],
  // reaching other machines
  ['git over ssh uses the user’s agent', ['SSH_AUTH_SOCK']],
  ['networks with a proxy', ['http_proxy', 'https_proxy', 'all_proxy', 'no_proxy']],
  ['the same, in the other spelling', ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY']],
  ['networks with their own certificate authority', ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_*', 'CURL_CA_BUNDLE']],
  ['the same, for Python and git', ['REQUESTS_CA_BUNDLE', 'GIT_SSL_CAINFO']],
  // git
  ['commits carry the user’s name', ['GIT_AUTHOR_NAME', 'GIT_AUTHOR_EMAIL', 'EMAIL']],
  ['the same, for the committer', ['GIT_COMMITTER_NAME', 'GIT_COMMITTER_EMAIL']],
  ['git access over ssh', ['GIT_SSH', 'GIT_SSH_COMMAND']],
  // language tool chains
  ['node installed by a version manager', ['NVM_*', 'VOLTA_*', 'FNM_*', 'ASDF_*', 'MISE_*', 'N_PREFIX']],
  [
    'package managers and their caches',
    ['PNPM_HOME', 'COREPACK_*', 'BUN_INSTALL', 'DENO_DIR', 'YARN_CACHE_FOLDER'],
  ],
  [
    'Rust and Go tool chains',
    ['CARGO_HOME', 'RUSTUP_*', 'GOPATH', 'GOROOT', 'GOPROXY', 'GOFLAGS', 'GOCACHE'],
  ],
  ['Java and Android tool chains', ['JAVA_HOME', 'GRADLE_USER_HOME', 'MAVEN_*', 'ANDROID_HOME']],
  ['Python tool chains', ['VIRTUAL_ENV', 'PYENV_ROOT', 'UV_*', 'PIP_INDEX_URL', 'CONDA_*']],
  ['Ruby, Nix and Homebrew', ['RBENV_ROOT', 'GEM_HOME', 'NIX_*', 'HOMEBREW_PREFIX']],
  // the agent programs: without their own credentials they end immediately
  ['claude: key, address, model, and its settings', ['ANTHROPIC_*', 'CLAUDE_*']],
  [
    'claude through a cloud account',
    ['AWS_PROFILE', 'AWS_REGION', 'AWS_BEARER_TOKEN_BEDROCK', 'CLOUD_ML_REGION'],
  ],
  ['claude as root inside a container refuses to work without it', ['IS_SANDBOX']],
  ['codex and other agents that use the same interface', ['OPENAI_*', 'CODEX_*']],
  ['gemini, by key or cloud project', ['GEMINI_*', 'GOOGLE_*']],
  ['opencode', ['OPENCODE_*', 'OPENROUTER_API_KEY']],
  ['copilot, and `gh` in any agent’s shell', ['COPILOT_*', 'GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST']],
  ['qwen', ['QWEN_*', 'DASHSCOPE_*']],
  ['kimi', ['KIMI_*', 'MOONSHOT_*']],
  ['cursor', ['CURSOR_*']],
  ['droid', ['FACTORY_*']],
  ['auggie, kiro, amp and goose', ['AUGMENT_*', 'KIRO_*', 'AMP_*', 'GOOSE_*']],
];

/** Refused although a prefix above would allow it. */
const REFUSED: readonly (readonly [why: string, names: readonly string[]])[] = [
  ['a worker gets only the SVC_ names that its session needs', ['SVC_*']],
  ['they belong to the agent session that the host was started from', ['CLAUDE_CODE_SSE_PORT']],
  ['the same', ['CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_SESSION_ID', 'CODEX_SANDBOX', 'CURSOR_TRACE_ID']],
];

const splitPrefixes = (table: typeof ALLOWED): { exact: Set<string>; prefixes: string[] } => {
  const names = table.flatMap(([, list]) => list);
  return {
    exact: new Set(names.filter((name) => !name.endsWith('*'))),
    prefixes: names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1)),
  };
};

const matchesName = ({ exact, prefixes }: ReturnType<typeof splitPrefixes>, name: string): boolean =>
  exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix));

/**
 * Builds a worker's environment: the allowed names of `base`, then `extra` over them.
 * @param deny names that are never inherited, such as those of the receiver's and the webhooks' secrets; they do not
 * affect `extra`
 */
export function buildWorkerEnvironment(
  base: NodeJS.ProcessEnv,
  extra: Readonly<Record<string, string>>,
  deny: readonly string[] = [],
): Record<string, string> {
  const allowed = splitPrefixes(ALLOWED);
  const refused = splitPrefixes(REFUSED);
  const denied = new Set(deny);
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(base)) {
    if (value === undefined || denied.has(name) || refused.exact.has(name) || matchesName(refused, name))
      continue;
    if (matchesName(allowed, name)) environment[name] = value;
  }
  return { ...environment, ...extra };
}
