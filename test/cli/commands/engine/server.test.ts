import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { openBrowser, PASSWORD, signIn, startTestServer } from '../../../support/server/linked-server.ts';
import { runHere } from '../../../support/workspaces/command-line.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

const runIn = (cwd: string, args: string[], input = '') =>
  runHere(['server', ...args], { cwd, env: { HOME: cwd, PATH: process.env.PATH }, input });

it('a folder without a server is reported as such, and nothing is created in it', async () => {
  const folder = temporaryFolder('server-');
  mkdirSync(join(folder, 'empty'));
  for (const args of [
    ['person', 'list'],
    ['person', 'invite', 'ann'],
    ['person', 'remove', 'ann'],
    ['account', 'list'],
    ['account', 'plan', 'home', 'team'],
    ['workspace', 'list'],
    ['plan', 'list'],
    ['chat', 'list'],
    ['export', 'backup.jsonl'],
    ['rotate-key'],
  ])
    for (const data of ['missing', 'empty']) {
      const { code, stderr } = await runIn(folder, [...args, '--data', data]);
      assert.equal(code, 4, `${args.join(' ')}: ${stderr}`);
      assert.match(stderr, new RegExp(`there is no server in \\S+/${data}`));
    }
  assert.deepEqual(readdirSync(folder), ['empty']);
  assert.deepEqual(readdirSync(join(folder, 'empty')), []);
});

it('an empty --data creates no server in the current folder', async () => {
  const folder = temporaryFolder('server-');
  for (const args of [
    ['person', 'add', 'ann'],
    ['person', 'list'],
    ['serve', '--addr', '127.0.0.1:0'],
    ['import', 'backup.jsonl'],
  ]) {
    const { code, stderr } = await runIn(folder, [...args, '--data', '']);
    assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
    assert.match(stderr, /--data is empty/);
  }
  assert.deepEqual(readdirSync(folder), []);
});

it('the first command announces the root secret that it creates, and an address says its purpose', async () => {
  const folder = temporaryFolder('server-');
  const data = ['--data', 'data'];
  const first = await runIn(folder, ['person', 'add', 'ann', '--operator', ...data]);
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stderr, /a root secret was created; back up this file: \S+\/server\.key/);
  assert.match(first.stderr, /with --public-url/);
  assert.match(first.stdout, /http:\/\/127\.0\.0\.1:8791\/invitation\//);
  const publicUrl = 'https://svc.example.org';
  await (await startTestServer({ folder: join(folder, 'data'), publicUrl })).close();
  const second = await runIn(folder, ['person', 'invite', 'ann', ...data]);
  assert.match(second.stdout, /https:\/\/svc\.example\.org\/invitation\//);
  assert.doesNotMatch(second.stderr, /root secret|--public-url/);
});

it('a person who forgot a password gets an address to set another one', async (context) => {
  const folder = temporaryFolder('server-');
  const data = ['--data', 'data'];
  await runIn(folder, ['person', 'add', 'ann', '--operator', '--password', ...data], `${PASSWORD}\n`);
  const invited = await runIn(folder, ['person', 'invite', 'ann', ...data]);
  assert.notEqual(invited.code, 0);
  assert.match(invited.stderr, /ann can already sign in\n.*svc server person reset/);
  const reset = await runIn(folder, ['person', 'reset', 'ann', ...data]);
  assert.equal(reset.code, 0, reset.stderr);
  const address = /\/invitation\/[\w-]+/.exec(reset.stdout)![0];
  const server = await startTestServer({ folder: join(folder, 'data') });
  context.after(() => server.close());
  const before = await signIn(server, 'ann');
  assert.equal((await before.get('/app')).status, 200, 'the old session is valid until then');
  const other = `another ${PASSWORD}`;
  await openBrowser(server).post(address, { password: other });
  assert.equal((await before.get('/app')).status, 303, 'the old session has ended');
  const after = await signIn(server, 'ann', other);
  assert.equal((await after.get('/app')).status, 200);
});

it('the command explains errors in words', async () => {
  const folder = temporaryFolder('server-');
  const data = ['--data', 'data'];
  const short = await runIn(folder, ['person', 'add', 'ann', '--operator', '--password', ...data], 'short\n');
  assert.equal(short.code, 2);
  assert.equal(
    (await runIn(folder, ['account', 'list', ...data])).stdout.trim(),
    '',
    'it leaves nothing behind',
  );
  const right = await runIn(
    folder,
    ['person', 'add', 'ann', '--operator', '--password', ...data],
    `${PASSWORD}\n`,
  );
  assert.equal(right.code, 0, right.stderr);
  for (const [args, said] of [
    [['account', 'plan', 'home', 'gold'], /plan: expected one of "free"\|"professional"\|"team"/],
    [['account', 'addon', 'home', 'slack', 'on'], /addon: expected one of/],
    [['account', 'add', ''], /name: must not be empty/],
    [['plan', 'set', 'team', 'people=-1'], /a plan has no "people=-1"/],
  ] as const) {
    const { code, stderr } = await runIn(folder, [...args, ...data]);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, said);
    assert.doesNotMatch(stderr, /✖|→ at/);
  }
});

async function answerWith(context: TestContext, folder: string, text: string): Promise<void> {
  const socket = join(folder, 'server.sock');
  const server = createServer((connection) => {
    connection.on('error', () => undefined);
    connection.once('data', () => connection.end(text));
  });
  server.listen(socket);
  await once(server, 'listening');
  context.after(() => {
    server.close();
    rmSync(socket, { force: true });
  });
}

const answers = {
  'no JSON': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello',
  'JSON that is no answer': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]',
  nothing: 'HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n',
  'half an answer': 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"res',
  'no HTTP': 'nonsense\r\n\r\n',
  'no word': '',
};
for (const [what, text] of Object.entries(answers))
  it(`the command reports that the socket answers with ${what}`, async (context) => {
    const folder = temporaryFolder('server-');
    await (await startTestServer({ folder })).close();
    await answerWith(context, folder, text);
    const { code, stderr } = await runIn(folder, ['person', 'list', '--data', '.']);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /the server at \S+server\.sock does not answer/);
    assert.ok(existsSync(join(folder, 'server.db')));
  });
