interface SecretGroups {
  secret: string;
  /** The name that the secret is assigned to. */
  name?: string;
}

interface Pattern {
  kind: string;
  /** With a group `secret`, only that group is replaced. */
  find: RegExp;
  /** Reports whether a text in the position of a secret is one. */
  isSecret?(groups: SecretGroups): boolean;
}

/** First secrets with a distinctive shape; secrets recognised by their position come last. */
const PATTERNS: readonly Pattern[] = [
  {
    kind: 'private key',
    find: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
  { kind: 'age key', find: /\bAGE-SECRET-KEY-1[A-Z0-9]{20,}/g },
  { kind: 'AWS access key', find: /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g },
  { kind: 'GitHub token', find: /\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})/g },
  { kind: 'GitLab token', find: /\bgl(?:pat|dt|rt|ptt|cbt|soat|ft)-[A-Za-z0-9_-]{16,}/g },
  { kind: 'Slack token', find: /\bxox[a-z](?:\.xox[a-z])?-[A-Za-z0-9-]{10,}|\bxapp-\d-[A-Za-z0-9-]{10,}/g },
  {
    kind: 'webhook address',
    find: /https:\/\/(?:hooks\.slack\.com\/(?:services|workflows)|discord(?:app)?\.com\/api\/webhooks)\/[^\s"'<>)]+/g,
  },
  // Of machines, workspaces and people of a linked server, and virtual keys of the gateway.
  { kind: 'token of svc', find: /\bsvc(?:[a-z]_[\w-]{16,}|-vkey-[\w-]{16,})/g },
  { kind: 'webhook secret', find: /\bwhsec_[A-Za-z0-9+/=_-]{16,}/g },
  { kind: 'Stripe key', find: /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}/g },
  { kind: 'Anthropic key', find: /\bsk-ant-[A-Za-z0-9_-]{10,}/g },
  { kind: 'OpenAI key', find: /\bsk-(?=[A-Za-z_-]{0,200}\d)[A-Za-z0-9_-]{20,}/g },
  {
    kind: 'Google key',
    find: /\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{20,}/g,
  },
  { kind: 'npm token', find: /\bnpm_[A-Za-z0-9]{30,}/g },
  { kind: 'PyPI token', find: /\bpypi-[A-Za-z0-9_-]{30,}/g },
  { kind: 'Hugging Face token', find: /\bhf_[A-Za-z0-9]{20,}/g },
  { kind: 'SendGrid key', find: /\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}/g },
  { kind: 'Twilio key', find: /\b(?:SK|AC)[0-9a-f]{32}\b/g },
  { kind: 'Mailgun key', find: /\bkey-[0-9a-f]{32}\b/g },
  { kind: 'Telegram token', find: /\b\d{8,10}:AA[A-Za-z0-9_-]{32,}/g },
  { kind: 'Discord token', find: /\b[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}/g },
  { kind: 'Shopify token', find: /\bshp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}/g },
  { kind: 'DigitalOcean token', find: /\bdo[opr]_v1_[0-9a-f]{32,}/g },
  { kind: 'Databricks token', find: /\bdapi[0-9a-f]{32}/g },
  { kind: 'Vault token', find: /\bhv[sbr]\.[A-Za-z0-9_-]{20,}/g },
  { kind: 'Linear key', find: /\blin_(?:api|oauth)_[A-Za-z0-9]{20,}/g },
  { kind: 'Atlassian token', find: /\bATATT3[A-Za-z0-9_=-]{20,}/g },
  {
    kind: 'Cloudflare or Docker token',
    find: /\bdckr_pat_[A-Za-z0-9_-]{20,}|\bv1\.0-[0-9a-f]{24}-[0-9a-f]{64,}/g,
  },
  { kind: 'Azure key', find: /\b(?:AccountKey|SharedAccessKey)=(?<secret>[A-Za-z0-9+/]{20,}={0,2})/gi },
  { kind: 'JSON web token', find: /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g },
  {
    kind: 'password in an address',
    // Up to the last @ before the host: a password may contain one, and a slash unless a port precedes it.
    find: /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@]{0,200}:(?!\d{1,5}[/?#])(?<secret>(?:(?!:\/\/)[^\s"'<>`]){1,300})@(?=[\w[])/gi,
    isSecret: ({ secret }) => !IS_PLACEHOLDER.test(secret),
  },
  {
    // Of letters only: after another key of a database, it is not a name in code.
    kind: 'password in a connection string',
    find: /(?<=\b(?:server|host|source|database|catalog|uid|user(?: ?id|name)?) ?= ?[^\n;]{1,100};(?:[^\n;]{1,100};){0,3} ?)(?:password|pwd) ?= ?(?<secret>[^\s;"']{3,200})/gi,
    isSecret: ({ secret }) => !IS_PLACEHOLDER.test(secret),
  },
  {
    kind: 'authorization header',
    find: /\b(?:bearer|basic)\s+(?<secret>(?=[A-Za-z0-9+/._~-]*\d)[A-Za-z0-9+/._~-]{16,}=*)/gi,
    isSecret: ({ secret }) => !IS_NO_SECRET.test(secret),
  },
  {
    kind: 'secret in an assignment',
    find: /(?<![\w.-])-{0,2}(?<name>(?:(?:api|access|auth|private|secret|signing|encryption|client) )?[A-Za-z_][\w.-]{0,80}|密码|密钥|口令|パスワード|비밀번호)(?:\\?["'`])?\s{0,8}(?:[:=：]|=>|:=)\s{0,8}(?:\\?["'`])?(?<secret>(?![<{[$(])[^\s"'`,;<>{}\\]{6,500})/gi,
    isSecret: isAssignedSecret,
  },
];

/** A name whose last word is one of these is of a password, which may be made of words. */
const PASSWORD_WORD = /^(?:\w*(?:password|passwd|passphrase|passwort|kennwort)|pass|pwd|contraseña)$/;
const SECRET_WORD =
  /^(?:(?:access|auth|api|id|refresh|bearer|session)?token|(?:client|app)?secret|(?:api|access|secret|private)key|credentials?)$/;
/** With `key` they name a secret; other keys are of caches, tables and keyboards. */
const KEY_KINDS =
  /^(?:api|access|auth|private|secret|signing|encryption|account|master|shared|client|subscription)$/;
/** After a word of secrets: the name is of a fact about one. */
const ABOUT_SECRET =
  /^(?:ur[il]s?|types?|name|length|limit|count|expir\w*|ttl|timeout|file|path|policy|field|header|ids?|format|endpoint|budget|usage|used|size|min|max|prefix|algorithm|provider|store|manager|version|env|var|label|hint|message|status|required|enabled|seconds|minutes|hours|days|ms)$/;

/** Reports what a name is of, by its whole words: `max_tokens` and `tokenizer` are of no secret. */
function readSecretName(name: string): 'password' | 'secret' | null {
  if (/^[^\x00-\x7f]/.test(name)) return 'password';
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s._-]+/);
  const last = words.findLastIndex(
    (word, at) =>
      PASSWORD_WORD.test(word) ||
      SECRET_WORD.test(word) ||
      (word === 'key' && KEY_KINDS.test(words[at - 1] ?? '')),
  );
  if (last < 0 || words.slice(last + 1).some((word) => ABOUT_SECRET.test(word))) return null;
  return PASSWORD_WORD.test(words[last] ?? '') ? 'password' : 'secret';
}

/** Reports whether a header carries a secret: also one with any word for keys, cookies or authorization. */
export const isSecretHeader = (name: string): boolean =>
  readSecretName(name) !== null ||
  /(?:^|[-_])(?:authorization|auth|tokens?|secrets?|passwords?|cookies?|\w*keys?)(?:$|[-_])/i.test(name);

function isAssignedSecret({ name = '', secret }: SecretGroups): boolean {
  const kind = readSecretName(name);
  if (kind === null || IS_NO_SECRET.test(secret) || IS_NUMBER.test(secret)) return false;
  if (kind === 'password') return !IS_IDENTIFIER.test(secret);
  return secret.length >= 8 && /[\d!@#$%^&*+/=-]/.test(secret) && !FEW_WORDS.test(secret);
}

/** A number, also with a unit, and a date. */
const IS_NUMBER = /^[+-]?[\d_.,]+(?:[kmgt]i?b?|ms|s|m|h|d|w|min|%)?[).]?$|^\d{4}-\d\d-\d\d(?:T|$)/i;
/** Code and prose name other things by one word, or by words with points or underscores. */
const IS_IDENTIFIER = /^[A-Za-z]+(?:[._][A-Za-z]+)*[).:?!]?$/;
/** Up to three words, as names of services and files are. */
const FEW_WORDS = /^[a-z]+(?:[-_.][a-z]+){0,2}$/;
/** Paths, calls, names of variables and redacted text may also be in the position of a secret. */
const IS_NO_SECRET =
  /^(?:\[redacted|process\.env|os\.environ|env\.|https?:\/\/|\.{0,2}\/[\w./-]+$|[A-Z]+(?:_[A-Z0-9]+)*$|[\w.]+\(|\*+$|%\w+%$)/;
const IS_PLACEHOLDER =
  /^(?:\[redacted|[$<{[%*].*|password|passwd|pass|pwd|secret|token|x+|\.+|…)$|^\[redacted/i;

/** Returns a text without its secrets, and their kinds. */
export function redactSecrets(text: string): { text: string; kinds: string[] } {
  const kinds = new Set<string>();
  const clean = replaceSecrets(text, (_secret, kind) => {
    kinds.add(kind);
    return `[redacted: ${kind}]`;
  });
  return { text: clean, kinds: [...kinds] };
}

/** Returns a text with an asterisk for each byte of its secrets: all other text stays in place, on the same line. */
export const coverSecrets = (text: string): string =>
  replaceSecrets(text, (secret) => secret.replace(/[^\n]+/g, (line) => '*'.repeat(Buffer.byteLength(line))));

function replaceSecrets(text: string, replace: (secret: string, kind: string) => string): string {
  let clean = text;
  for (const { kind, find, isSecret } of PATTERNS)
    clean = clean.replace(find, (whole: string, ...rest: unknown[]) => {
      const groups = rest.at(-1);
      if (typeof groups !== 'object') return replace(whole, kind);
      const { secret } = groups as SecretGroups;
      if (isSecret?.(groups as SecretGroups) === false) return whole;
      const at = whole.lastIndexOf(secret);
      return whole.slice(0, at) + replace(secret, kind) + whole.slice(at + secret.length);
    });
  return clean;
}
