import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redactSecrets } from '../../../../engine/knowledge/memory/redact.ts';

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

test('a text that only mentions secrets stays unchanged', () => {
  for (const text of [
    'token: process.env.API_TOKEN is read at start',
    'Set SVC_WEBHOOK_SECRET before you start; the password is in the vault.',
    'api_key: string, secret = readSecret("x")',
    'The tokenizer of engine/knowledge/search/terms.ts, commit 4f9d2c1e8ab04c6d9f3371e5b2a1c0d9e8f7a6b5',
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
  ];
  for (const text of long) redactSecrets(text);
});
