import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactSecrets } from '../../../../engine/core/base/redact.ts';
import { createVirtualKey } from '../../../../engine/gateway/keys/virtual-key.ts';

/** Assembled here so that secret scanners find nothing in this file. */
const made = (head: string, length: number, letters = 'aB3dE5gH7jK9mN2pQ4rS6tU8vW1xY'): string =>
  head + letters.repeat(Math.ceil(length / letters.length)).slice(0, length);

const HEX = '0123456789abcdef';
const SECRETS: Record<string, string> = {
  'private key': `-----BEGIN RSA ${'PRIVATE'} KEY-----\n${made('MII', 60)}\n-----END RSA ${'PRIVATE'} KEY-----`,
  'age key': made('AGE-SECRET-KEY-1', 58, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L'),
  'AWS access key': made('AKIA', 16, 'ABCD2345EFGH6789'),
  'GitHub token': made('ghp_', 36),
  'GitLab token': made('glpat-', 20),
  'Slack token': `xoxb-${made('', 12, '1234567890')}-${made('', 24)}`,
  'webhook address': `https://hooks.slack.com/services/T000/B000/${made('', 24)}`,
  'Stripe key': made('sk_live_', 24),
  'Anthropic key': made('sk-ant-api03-', 40),
  'OpenAI key': made('sk-proj-', 40),
  'Google key': made('AIza', 35),
  'npm token': made('npm_', 36),
  'PyPI token': made('pypi-', 60),
  'Hugging Face token': made('hf_', 34),
  'SendGrid key': `${made('SG.', 22)}.${made('', 43)}`,
  'Twilio key': made('SK', 32, HEX),
  'Telegram token': `${made('', 10, '1234567890')}:${made('AA', 33)}`,
  'Shopify token': made('shpat_', 32, HEX),
  'DigitalOcean token': made('dop_v1_', 64, HEX),
  'Databricks token': made('dapi', 32, HEX),
  'Vault token': made('hvs.', 24),
  'Azure key': `AccountKey=${made('', 86)}==`,
  'JSON web token': `${made('eyJ', 30)}.${made('eyJ', 40)}.${made('', 43)}`,
  'token of svc': made('svcw_', 43),
  'webhook secret': made('whsec_', 32),
  'password in an address': 'postgres://app:hunter2x@db.example/prod',
  'authorization header': `Authorization: Bearer ${made('', 40)}`,
  'secret in an assignment': 'DB_PASSWORD="correct-horse-9"',
};

test('secrets of every kind are removed, and the text around them stays', () => {
  for (const [kind, secret] of Object.entries(SECRETS)) {
    const { text, kinds } = redactSecrets(`before ${secret}\nafter`);
    assert.ok(kinds.includes(kind), `${kind}: ${kinds.join()} ${text}`);
    assert.ok(text.startsWith('before ') && text.endsWith('after'), text);
    const told = /[A-Za-z0-9+/_-]{12,}/.exec(
      secret.replace(/^.*(?:KEY-----\n|services\/|AccountKey=|Bearer )/s, ''),
    )?.[0];
    if (told !== undefined && kind !== 'password in an address')
      assert.ok(!text.includes(told), `${kind}: ${text}`);
  }
  assert.equal(
    redactSecrets(SECRETS['password in an address'] ?? '').text,
    'postgres://app:[redacted: password in an address]@db.example/prod',
  );
});

test('the tokens of svc itself are removed', () => {
  for (const prefix of ['svcw_', 'svcm_', 'svcx_', 'svc-vkey-', 'whsec_']) {
    const { text } = redactSecrets(`with ${made(prefix, 40)} it answers`);
    assert.match(text, /^with \[redacted: (?:token of svc|webhook secret)\] it answers$/);
  }
  const key = createVirtualKey();
  assert.ok(!redactSecrets(key).text.includes(key.slice(-20)));
});

test('a password of words is removed whole, also with an @ and before a host', () => {
  for (const [given, clean] of [
    ['password: correct-horse-battery-staple', 'password: [redacted: secret in an assignment]'],
    [
      '"dbPassword": "tr0ub4dor", "port": 1',
      '"dbPassword": "[redacted: secret in an assignment]", "port": 1',
    ],
    ['PGPASSWORD=hunter2 psql', 'PGPASSWORD=[redacted: secret in an assignment] psql'],
    ['secret: correct-horse-battery-staple', 'secret: [redacted: secret in an assignment]'],
    ['API key: abcdef123456', 'API key: [redacted: secret in an assignment]'],
    ['パスワード: tora-no-maki', 'パスワード: [redacted: secret in an assignment]'],
    ['postgres://u:pa@ss@host', 'postgres://u:[redacted: password in an address]@host'],
    ['mysql://root:letters@db:3306/x', 'mysql://root:[redacted: password in an address]@db:3306/x'],
    [
      'Server=db; User Id=net; Password=letters; Encrypt=true',
      'Server=db; User Id=net; Password=[redacted: password in a connection string]; Encrypt=true',
    ],
    ['redis://:p/w@cache', 'redis://:[redacted: password in an address]@cache'],
    [
      'postgres://a:b1@h1/x,postgres://c:d2@h2/y',
      'postgres://a:[redacted: password in an address]@h1/x,postgres://c:[redacted: password in an address]@h2/y',
    ],
  ])
    assert.equal(redactSecrets(given ?? '').text, clean);
});

test('a name is of a secret only by its whole words, and a plain number is never one', () => {
  for (const text of [
    'max_tokens: 1_000_000',
    'max_token: 200000',
    'token: 1_000_000, token_limit = 12,345,678',
    'tokenizer: bert-base-uncased-1',
    'secretary: jane-doe-1, compass: north-1-east, bypass: feature-x-1',
    'cache_key: user-42-profile, primary key: user_id-1',
    'access_token_ttl: 3600-seconds, token: 30d, token: 2026-11-29T10:00:00Z',
    'password: user_password, password = config.password, password: required',
    'password_policy: twelve-or-more-1',
    'https://registry:4873/@scope/pkg, git@github.com:org/repo.git, http://a.example:8080/x@y',
    'postgres://user:password@localhost/db, postgres://$USER:$PASS@host',
  ])
    assert.deepEqual(redactSecrets(text), { text, kinds: [] });
});

test('a text that only mentions secrets stays unchanged', () => {
  for (const text of [
    'token: process.env.API_TOKEN is read at start',
    'Set SVC_WEBHOOK_SECRET before you start; the password is in the vault.',
    'api_key: string, secret = readSecret("x")',
    'The tokenizer of engine/knowledge/search/terms.ts, commit 4f9d2c1e8ab04c6d9f3371e5b2a1c0d9e8f7a6b5',
    'x = 1; password = value; sk-learn-contrib-extension-pack',
    'sk-learn and https://user@host/path, SKIP_TESTS=1, task-1, keyboard: dvorak',
    'password: <your password>, TOKEN=$TOKEN, secret=[redacted: GitHub token]',
  ])
    assert.deepEqual(redactSecrets(text), { text, kinds: [] });
});

test('a redacted text is not redacted further', () => {
  for (const secret of Object.values(SECRETS)) {
    const { text } = redactSecrets(secret);
    assert.equal(redactSecrets(text).text, text);
  }
});

test('hostile text takes linear time', () => {
  const long = [
    'password='.repeat(20_000),
    'a://'.repeat(25_000),
    'eyJ'.repeat(30_000),
    `token${'-'.repeat(100_000)}`,
    `a://b:${'@'.repeat(100_000)}`,
    'x://u:p@'.repeat(20_000),
    `password${' '.repeat(100_000)}`,
    'secret '.repeat(20_000),
  ];
  for (const text of long) redactSecrets(text);
});
