interface Pattern {
  kind: string;
  /** With a group `secret`, only that group is replaced. */
  find: RegExp;
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
  { kind: 'Stripe key', find: /\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}|\bwhsec_[A-Za-z0-9+/=]{16,}/g },
  { kind: 'Anthropic key', find: /\bsk-ant-[A-Za-z0-9_-]{10,}/g },
  { kind: 'OpenAI key', find: /\bsk-(?:proj-|svcacct-|or-v1-)?[A-Za-z0-9_-]{20,}/g },
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
  { kind: 'password in an address', find: /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:(?<secret>[^\s/@]{3,})@/gi },
  {
    kind: 'authorization header',
    find: /\b(?:bearer|basic)\s+(?<secret>(?=[A-Za-z0-9+/._~-]*\d)[A-Za-z0-9+/._~-]{16,}=*)/gi,
  },
  {
    kind: 'secret in an assignment',
    find: /(?:pass(?:word|wd|phrase)?|passwort|contraseña|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|credential|密码|密钥|口令|パスワード)[A-Za-z0-9_-]{0,24}["'`]?\s*(?:[:=：]|=>|:=)\s*["'`]?(?<secret>(?=[^\s"'`,;]*[\d!@#$%^&*+/=-])(?![<{[$(])[^\s"'`,;<>{}]{8,})/gi,
  },
];

/** Paths, calls, keywords and redacted text may also be in the position of a secret. */
const IS_NO_SECRET =
  /^(?:\[redacted|process\.env|os\.environ|env\.|https?:\/\/|\.{0,2}\/[\w./-]+$|[a-z]+(?:[-_.][a-z]+)*$|[A-Z]+(?:_[A-Z0-9]+)*$|[\w.]+\()/;

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
  for (const { kind, find } of PATTERNS)
    clean = clean.replace(find, (whole: string, ...rest: unknown[]) => {
      const groups = rest.at(-1);
      const secret =
        typeof groups === 'object' && groups !== null ? (groups as { secret?: string }).secret : undefined;
      if (secret === undefined) return replace(whole, kind);
      if (IS_NO_SECRET.test(secret)) return whole;
      const at = whole.lastIndexOf(secret);
      return whole.slice(0, at) + replace(secret, kind) + whole.slice(at + secret.length);
    });
  return clean;
}
