import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { after, before, describe, test } from 'node:test';
import { type Browser, openBrowser, PASSWORD } from '../../../support/server/linked-server.ts';
import { type ServerProgram, startServerProgram } from '../../../support/server/server-program.ts';
import { runOnTerminal } from '../../../support/terminals/pty.ts';
import { awaitQuietDay } from '../../../support/wait.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';
import { AGENT, makeWorkspace, SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

const CLAUDE = `'${process.execPath}' '${AGENT}' -- {{prompt}}`;
const DO_NOT_TRACK = { env: { DO_NOT_TRACK: '1' } };

describe('what a person learns about telemetry, from the login to the unlinking', () => {
  const folder = temporaryFolder('server-');
  let server: ServerProgram;
  let url: string;
  let ann: Browser;
  let ws: TestWorkspace;
  before(async () => {
    await awaitQuietDay();
    server = await startServerProgram(folder);
    url = `http://127.0.0.1:${server.port}`;
    ann = openBrowser({ url, port: server.port });
    const code = server.setupCode ?? '';
    await ann.post('/setup', { code, name: 'ann', password: PASSWORD, account: 'home' });
    ws = await makeWorkspace({ commands: { claude: CLAUDE, 'my-agent': CLAUDE } });
  });
  after(async () => {
    await ws.svc(['down', '--stop-workers']);
    await server.stop();
    await ws.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Returns stdout of a successful command. */
  async function say(line: string, options: { env?: NodeJS.ProcessEnv } = {}): Promise<string> {
    const { code, stdout, stderr } = await ws.program(line.split(' '), options);
    assert.equal(code, 0, stderr);
    return stdout;
  }

  /** Runs `svc login`; ann types its code and approves. */
  async function logIn(): Promise<string> {
    const child = spawn(process.execPath, [SVC, 'login', url, '--no-browser'], { cwd: ws.root, env: ws.env });
    const said = text(child.stdout);
    for await (const part of child.stderr.setEncoding('utf8')) {
      const code = /type in the code (\S+)/.exec(part as string)?.[1];
      if (code === undefined) continue;
      await ann.post('/device', { user_code: code });
      await ann.post('/device/answer', { user_code: code, answer: 'allow' });
    }
    if (child.exitCode === null) await once(child, 'exit');
    return said;
  }

  test("nothing is sent without a link, and today's report is shown as it would be sent", async () => {
    const shown = await say('telemetry show');
    assert.match(shown, /^telemetry {2}nothing is sent: this workspace is not linked$/m);
    assert.match(shown, /^would be sent: \d{4}-\d\d-\d\d \(UTC\), so far\n\{"schema":3,/m);
    assert.match(await say('telemetry on'), /^nothing is sent: this workspace is not linked/);
    const refused = await ws.program(['telemetry', 'delete']);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /is not linked\nhint: .*\/app\/usage/);
  });

  test('linking announces what it sends before it is tried, and in its help', async () => {
    const told = /^the server will receive:\n(?:.*\n)*telemetry {3}(.*)\nstays here {2}prompts, files, /m;
    const refused = await ws.program(['link']);
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /svc login URL first/);
    assert.match(told.exec(refused.stdout)?.[1] ?? '', /^daily figures, after the day ends/);
    await say('down');
    const { stdout } = await ws.program(['link'], DO_NOT_TRACK);
    assert.equal(told.exec(stdout)?.[1], 'none: DO_NOT_TRACK is set where the engine was started');
    await say('down');
    assert.doesNotMatch((await ws.program(['link', '--json'])).stdout, /will receive/);
    const help = await say('link --help');
    assert.match(help, /^The server receives outbound events and pending decisions: /m);
    assert.match(help, /^It never receives a prompt, a file, /m);
  });

  test('linking shows what is sent, and agrees to it', async () => {
    assert.match(await logIn(), /logged in {2}as ann, account home/);
    assert.match(
      await say('link'),
      /^telemetry {2,}daily figures, after the day ends: .*; svc telemetry show prints them, svc telemetry off stops them$/m,
    );
    assert.match(
      await say('telemetry show'),
      /telemetry {2}each day is sent once it is over.*\n.*\nsent next: nothing, since nothing was counted yet\n$/,
    );
    for (const agent of ['claude', 'my-agent'])
      await ws.program(['task', 'add', '--agent', agent, '-p', '#agent: no-change', '--run', '-f']);
    const shown = await say('telemetry show');
    assert.match(shown, /^sent next: \S+, once it is over \(UTC\)$/m);
    const body = JSON.parse(shown.split('\n').find((line) => line.startsWith('{')) ?? '') as object;
    assert.deepEqual(body, {
      ...body,
      tasks: { cli: 2 },
      decisions: { approved: 2 },
      runs: { claude: { sealed: 1 }, other: { sealed: 1 } },
    });
    assert.equal(
      await say('telemetry delete'),
      'the linked server no longer has figures of this workspace\n',
    );
  });

  test('off drops pending reports, and on starts again', async () => {
    assert.equal(
      await say('telemetry off'),
      'telemetry is off: nothing is counted, and nothing more is sent\n',
    );
    assert.match(await say('telemetry show'), /^telemetry {2}nothing is sent: telemetry\.work is off$/m);
    assert.match(await say('link status'), /^telemetry {2,}none: telemetry\.work is off$/m);
    assert.match(await say('telemetry on'), /^each day is sent once it is over \(telemetry\.work is on\)/);
    assert.match(await say('telemetry show'), /sent next: nothing, since nothing was counted yet\n$/);
  });

  test('a link made by a program sends nothing until a person has seen it on a terminal', async () => {
    await say('unlink');
    await say('link --json');
    const waits =
      /^telemetry {2}nothing is sent: a person must review it first: svc telemetry show in a terminal/m;
    assert.match(await say('telemetry show'), waits);
    assert.match(await say('telemetry show'), waits);
    const onTerminal = [process.execPath, SVC, 'telemetry', 'show'];
    assert.match(
      (await runOnTerminal(onTerminal, { cwd: ws.root, env: ws.env })).text,
      /now that you have seen it/,
    );
    assert.match(await say('telemetry show'), /^telemetry {2}each day is sent once it is over/m);
  });

  test('DO_NOT_TRACK overrides everything, and linking under it agrees to nothing', async () => {
    await say('unlink');
    await say('down');
    assert.match(
      await say('link', DO_NOT_TRACK),
      /^telemetry {2,}none: DO_NOT_TRACK is set where the engine/m,
    );
    await say('down');
    assert.match(await say('link status'), /^telemetry {2,}none: a person must review it first/m);
    await say('down');
    assert.match(await say('telemetry on', DO_NOT_TRACK), /^nothing is sent: DO_NOT_TRACK is set/);
    await say('down');
  });

  test("DO_NOT_TRACK of a terminal agrees to nothing, regardless of the engine's environment", async () => {
    await say('unlink');
    assert.match(
      await say('link', DO_NOT_TRACK),
      /^telemetry {2,}none: DO_NOT_TRACK is set in this terminal$/m,
    );
    const { stderr } = await ws.program(['telemetry', 'on'], DO_NOT_TRACK);
    assert.match(stderr, /DO_NOT_TRACK is set in this terminal, so nothing was agreed to/);
    assert.match(await say('link status'), /^telemetry {2,}none: a person must review it first/m);
    await say('unlink');
    assert.doesNotMatch(await say('link'), /telemetry waits/);
    const refused = await ws.program(['link'], { env: { SVC_SESSION: 'bob' } });
    assert.match(refused.stderr, /^error: svc link is for the Chair seat/);
    // Any session may read the link's state.
    assert.match(
      await say('link status', { env: { SVC_SESSION: 'bob' } }),
      /^telemetry {2,}svc telemetry show prints it, in the Chair seat$/m,
    );
  });

  test('nothing is sent after unlinking', async () => {
    assert.equal(await say('unlink'), `unlinked from ${url}\n`);
    assert.match(
      await say('telemetry show'),
      /^telemetry {2}nothing is sent: this workspace is not linked$/m,
    );
  });

  test("the server's copy is deleted once it answers, and until then the command says so", async () => {
    await say('link');
    await server.stop();
    const { code, stderr } = await ws.program(['telemetry', 'delete']);
    assert.notEqual(code, 0);
    assert.match(stderr, /ECONNREFUSED\nhint: try again once it answers; svc telemetry off stops /);
  });
});
