import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseKeys } from '../../../engine/config/home.ts';
import {
  createSecretLookup,
  findNearest,
  formatAddress,
  isLoopback,
  maskSecrets,
  parseAddress,
  parseDuration,
  readEnvironmentFlag,
  readHome,
  resolveMachineHome,
} from '../../../engine/config/index.ts';
import { countSlips } from '../../../engine/config/nearest.ts';
import { folder } from './support.ts';

test('durations count in milliseconds', () => {
  const cases = {
    '24h': 86_400_000,
    '168h': 604_800_000,
    '90m': 5_400_000,
    '30s': 30_000,
    '7d': 604_800_000,
    '1h30m': 5_400_000,
    '250ms': 250,
    '1.5h': 5_400_000,
    '0': 0,
    '0s': 0,
  };
  for (const [text, ms] of Object.entries(cases)) assert.equal(parseDuration(text), ms, text);
  for (const text of ['', '30', '-1h', '1y', 'h', '1 h', '24H', '1e3s', '99999999999999999999d', '1h\n']) {
    assert.throws(() => parseDuration(text), { code: 'config_invalid' }, JSON.stringify(text));
  }
});

test('addresses have a host and a port, and a bare port has no host', () => {
  assert.deepEqual(parseAddress('127.0.0.1:8788'), { host: '127.0.0.1', port: 8788 });
  assert.deepEqual(parseAddress('[::1]:0'), { host: '::1', port: 0 });
  assert.deepEqual(parseAddress('localhost:80'), { host: 'localhost', port: 80 });
  assert.deepEqual(parseAddress(':8790'), { host: '', port: 8790 });
  assert.deepEqual(parseAddress('8790'), { host: '', port: 8790 });
  for (const text of [
    '',
    'localhost',
    '::1',
    '::1:80',
    '[::1]',
    '[x]:1',
    '[127.0.0.1]:1',
    'a b:1',
    'h:65536',
    'h:-1',
    'h:1:2',
    'http://h:1',
    '-h:1',
    'h:1\n',
  ]) {
    assert.throws(() => parseAddress(text), { code: 'usage' }, JSON.stringify(text));
  }
  assert.equal(formatAddress(parseAddress('[::1]:80')), '[::1]:80');
  assert.equal(formatAddress(parseAddress('127.0.0.1:80')), '127.0.0.1:80');
});

test('only addresses that this machine alone can reach are loopback', () => {
  for (const host of [
    '127.0.0.1',
    '127.255.0.3',
    '::1',
    '0:0:0:0:0:0:0:1',
    '::ffff:127.0.0.1',
    '::ffff:7f00:1',
    'localhost',
    'LocalHost',
  ]) {
    assert.ok(isLoopback(host), host);
  }
  for (const host of [
    '',
    '0.0.0.0',
    '::',
    '0',
    '127.1',
    '2130706433',
    '0x7f000001',
    '192.168.1.5',
    '10.0.0.1',
    '128.0.0.1',
    '::ffff:10.0.0.1',
    '::127.0.0.1',
    'fe80::1',
    'localhost.example.com',
    'localhost.',
    'myhost',
    '127.0.0.1.nip.io',
  ]) {
    assert.ok(!isLoopback(host), host);
  }
});

test('the nearest word counts a swap as one slip, and there is none when nothing is near', () => {
  assert.equal(countSlips('timout', 'timeout'), 1);
  assert.equal(countSlips('cluade', 'claude'), 1);
  assert.equal(countSlips('', 'abc'), 3);
  assert.equal(countSlips('hepl', 'help'), 1);
  assert.equal(countSlips('same', 'same'), 0);
  assert.equal(findNearest('tsak', ['ask', 'task', 'tool']), 'task');
  assert.equal(findNearest('timout_sec', ['timeout_sec', 'idle_timeout_sec']), 'timeout_sec');
  assert.equal(findNearest('zzz', ['timeout_sec']), undefined);
});

test('the machine home is SVC_HOME, else local app data, else XDG, else ~/.config', () => {
  assert.equal(resolveMachineHome({ SVC_HOME: '/a', LOCALAPPDATA: '/b', XDG_CONFIG_HOME: '/c' }), '/a');
  assert.equal(resolveMachineHome({ LOCALAPPDATA: '/b', XDG_CONFIG_HOME: '/c' }), join('/b', 'svc'));
  assert.equal(resolveMachineHome({ XDG_CONFIG_HOME: '/c', HOME: '/d' }), '/c/svc');
  assert.equal(resolveMachineHome({ XDG_CONFIG_HOME: 'relative', HOME: '/d' }), '/d/.config/svc');
  assert.equal(resolveMachineHome({}), join(homedir(), '.config', 'svc'));
});

test('keys.env takes comments, export and quotes', () => {
  const { keys, ignored } = parseKeys(
    '# a\n\nA=1\nexport B = "two words" # why\nC=\'$x "y"\'\nD=plain # comment\nE="a\\"b\\nc"\nF=\r\nnot a line\nG="open\nH=a#b\n',
  );
  assert.deepEqual(Object.fromEntries(keys), {
    A: '1',
    B: 'two words',
    C: '$x "y"',
    D: 'plain',
    E: 'a"b\nc',
    F: '',
    H: 'a#b',
  });
  assert.deepEqual(ignored, [9, 10]);
});

test('a secret comes from the environment, then from keys.env', () => {
  const lookup = createSecretLookup(
    { A: 'environment', B: '' },
    {
      keys: new Map([
        ['A', 'x'],
        ['B', 'file'],
      ]),
    },
  );
  assert.equal(lookup('A'), 'environment');
  assert.equal(lookup('B'), 'file');
  assert.equal(lookup('C'), undefined);
});

test('keys.env that others can read is a warning without its content', {
  skip: process.platform === 'win32',
}, (t) => {
  const home = folder(t);
  const file = join(home, 'keys.env');
  writeFileSync(file, 'A=topsecret\ntopsecret2\n', { mode: 0o644 });
  chmodSync(file, 0o644);
  const { warnings, keys } = readHome(home);
  assert.equal(keys.get('A'), 'topsecret');
  assert.match(warnings.join('\n'), /line 2 is not NAME=VALUE/);
  assert.match(warnings.join('\n'), /chmod 600/);
  assert.doesNotMatch(warnings.join('\n'), /topsecret/);
  chmodSync(file, 0o600);
  assert.equal(readHome(home).warnings.length, 1);
  assert.deepEqual(readHome(join(home, 'missing')).warnings, []);
});

test('a 1/0 variable is one or the other', () => {
  assert.equal(readEnvironmentFlag({ X: '1' }, 'X'), true);
  assert.equal(readEnvironmentFlag({ X: 'false' }, 'X'), false);
  assert.equal(readEnvironmentFlag({}, 'X'), false);
  assert.throws(() => readEnvironmentFlag({ X: 'maybe' }, 'X'), /X: expected 1 or 0/);
});

test('secrets are masked wherever they appear', () => {
  const value = {
    providers: [{ name: 'a', api_key: 'topsecret', api_key_env: 'KEY' }, { api_key: '' }],
    headers: { Authorization: 'Bearer topsecret', Accept: 'text/plain', 'X-Api-Key': 'topsecret' },
    url: 'https://user:topsecret@host/x',
    database: 'postgres://user:top@secret@host/x',
    command: ['agent', '--token=topsecret-1', '--max_tokens=100000'],
    base: 'https://host/v1',
    keyed: 'https://host/v1?key=topsecret',
    port: 'http://user:topsecret@127.0.0.1:{{notify_port}}/x?topsecret',
    webhooks: [{ url: 'https://hooks.test/T0/topsecret' }, { url: 'https://hooks.test' }],
  };
  const hidden = JSON.parse(JSON.stringify(maskSecrets(value)).replace(/…[0-9a-f]{8}/g, '…HASH'));
  assert.deepEqual(hidden, {
    providers: [{ name: 'a', api_key: '***', api_key_env: 'KEY' }, { api_key: '' }],
    headers: { Authorization: '***', Accept: 'text/plain', 'X-Api-Key': '***' },
    url: 'https://host/…HASH',
    database: 'postgres://user:[redacted: password in an address]@host/x',
    command: ['agent', '--token=[redacted: secret in an assignment]', '--max_tokens=100000'],
    base: 'https://host/v1',
    keyed: 'https://host/…HASH',
    port: 'http://***@127.0.0.1:{{notify_port}}/x?***',
    webhooks: [{ url: 'https://hooks.test/…HASH' }, { url: 'https://hooks.test' }],
  });
});
