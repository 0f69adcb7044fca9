import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { parse } from 'yaml';
import { systemClock } from '../../engine/core/base/clock.ts';
import { askRunningServer } from '../../engine/linked-server/index.ts';
import { comment, issueLabeled } from '../../fixtures/payloads/events.ts';
import { readBlocks } from '../support/document.ts';
import { setUpServer, startTestServer } from '../support/server/linked-server.ts';
import {
  type HttpRequestNode,
  type Item,
  runCodeNode,
  runHttpNode,
  startWebhookNode,
} from '../support/server/n8n.ts';
import { openReader, type Reader } from '../support/terminals/reader.ts';
import { until } from '../support/wait.ts';
import { startCodeHost } from '../support/workspaces/code-host.ts';
import { AGENT } from '../support/workspaces/workspace.ts';

const BLOCKS = readBlocks('docs/automate/recipes.md');

/** Returns the only block with this word after its fence. */
function blockOf(word: string) {
  const [block, ...others] = BLOCKS.filter(({ words }) => words.includes(word));
  assert.ok(block !== undefined && others.length === 0, `exactly one block is called ${word}`);
  return block;
}
const blocksOf = (word: string) => BLOCKS.filter(({ words }) => words.includes(word));

/** A reader in a workspace that is set up as at the start of the page, with the scripted program as claude. */
async function openShop(t: TestContext, env: Record<string, string> = {}) {
  const reader = await openReader(t, { env });
  await reader.type(`git init --quiet shop
cd shop
git commit --quiet --allow-empty --message first
svc init
svc config set agents.cmds.claude "'${process.execPath}' '${AGENT}' -- {{prompt}}"`);
  await reader.follow(blocksOf('setup'));
  const secrets = readFileSync(join(reader.home, '.config/svc/keys.env'), 'utf8');
  const secretOf = (name: string): string =>
    new RegExp(`^SVC_${name}_SECRET=(.+)$`, 'm').exec(secrets)?.[1] ?? '';
  const address = (await reader.type('svc config get ui.addr')).trim();
  return { reader, secretOf, url: `http://${address}` };
}

const listTasks = async (reader: Reader) =>
  JSON.parse(await reader.type('svc task list --json')) as {
    task_id: string;
    status: string;
    title: string;
  }[];

/** Waits until the newest task has ended; returns its state. */
const awaitEnd = (reader: Reader, id: string) =>
  until(async () => {
    const status = (await listTasks(reader)).find(({ task_id }) => task_id === id)?.status;
    return status === 'done' || status === 'failed' ? status : null;
  }, `the end of ${id}`);

describe('each recipe runs as written', () => {
  test('the GitHub recipe takes a labelled issue and a comment through the tunnel once each, and both wait for a person', async (t) => {
    const { reader } = await openShop(t);
    const github = await startCodeHost(reader);
    t.after(github.close);
    await reader.follow(blocksOf('github'));
    assert.deepEqual(github.hooks[0]?.events, ['issues', 'issue_comment']);

    const labeled = issueLabeled('svc');
    const first = await github.deliver('issues', labeled);
    assert.deepEqual([first.status, first.body.decision_id, first.body.dispatched], [201, 'd-1', false]);
    assert.equal((await github.deliver('issues', labeled)).status, 409, 'the same delivery a second time');
    const again = await github.deliver('issues', { ...labeled, enterprise: { id: 1 } });
    assert.deepEqual(
      [again.status, again.body.task_id],
      [200, first.body.task_id],
      'the same issue a second time',
    );

    const [issue] = blocksOf('github-issue');
    assert.match(await reader.type(issue?.text ?? '', issue?.at), /t-1 done[\s\S]*diff --git/);

    const asked = await github.deliver('issue_comment', comment('/svc fix the login page'));
    assert.deepEqual([asked.status, asked.body.task_id], [201, 't-2']);
    await reader.type('kill $(jobs -p)');
  });

  const hasJq = spawnSync('jq', ['--version']).status === 0;
  test('the GitHub Action signs a task that the receiver takes, one for each run', {
    skip: hasJq ? false : 'jq is not installed',
  }, async (t) => {
    const { reader, secretOf, url } = await openShop(t);
    const workflow = parse(blockOf('action').text) as {
      jobs: { ask: { steps: { env: Record<string, string>; run: string }[] } };
    };
    const [step] = workflow.jobs.ask.steps;
    const known: Record<string, string> = {
      'secrets.SVC_URL': url,
      'secrets.SVC_TASK_SECRET': secretOf('TASK'),
      'github.event.workflow_run.head_branch': 'a"; touch pwned; $(touch pwned)',
    };
    const fill = (text: string, run: string): string =>
      text.replace(/\$\{\{ *([\w.]+) *\}\}/g, (_, name: string) =>
        name === 'github.event.workflow_run.html_url'
          ? `https://github.com/octo/workshop/actions/runs/${run}`
          : (known[name] ?? assert.fail(`unknown name ${name}`)),
      );
    const script = join(reader.home, 'step.sh');
    writeFileSync(script, step?.run ?? '');
    const runStep = (run: string): string => {
      const env = Object.entries(step?.env ?? {}).map(([name, text]) => [name, fill(text, run)]);
      return execFileSync('bash', ['-e', script], {
        cwd: reader.home,
        env: { PATH: process.env.PATH, ...Object.fromEntries(env), GITHUB_RUN_ID: run },
        encoding: 'utf8',
      });
    };
    assert.match(runStep('77'), /"task_id":"t-1"/);
    // A run does not repeat within a second, because its request would have the same signature.
    const before = Math.floor(Date.now() / 1000);
    await until(() => Math.floor(Date.now() / 1000) > before, 'the next second');
    assert.match(runStep('77'), /"task_id":"t-1"/, 'a repeated run');
    assert.match(runStep('78'), /"task_id":"t-2"/);
    assert.equal((await reader.type('ls')).includes('pwned'), false);
    assert.match(await reader.type('svc decision show d-1'), /touch pwned; \$\(touch pwned\), see https:/);
  });

  test("the crontab line starts the agent in cron's own environment", async (t) => {
    const { reader } = await openShop(t);
    const table = join(reader.home, 'crontab');
    reader.install(
      'crontab',
      `#!/bin/sh\nif [ "$1" = -l ]; then exec cat '${table}'; fi\nexec cat > '${table}'\n`,
    );
    await reader.follow(blocksOf('cron'));
    const lines = readFileSync(table, 'utf8').trim().split('\n');
    const settings = lines.filter((line) => /^\w+=/.test(line)).map((line) => line.split(/=(.*)/s, 2));
    const [command] = lines.flatMap((line) => /^0 3 \* \* 1-5 (.*)$/.exec(line)?.[1] ?? []);
    execFileSync('/bin/sh', ['-c', command ?? ''], {
      cwd: '/',
      env: { HOME: reader.home, LOGNAME: 'ada', SHELL: '/bin/sh', ...Object.fromEntries(settings) },
    });
    assert.equal(
      await awaitEnd(reader, 't-1'),
      'done',
      readFileSync(join(reader.home, 'svc-nightly.log'), 'utf8'),
    );
  });

  test('the n8n recipe signs in its Code node, and every event passes its other one, in order', async (t) => {
    const seen: Record<string, unknown>[] = [];
    let env: Record<string, string> = {};
    const verify = (item: Item) => runCodeNode(blockOf('n8n-verify').text, { items: [item], env });
    const webhook = await startWebhookNode(async (item) => {
      const [event] = await verify(item);
      seen.push(event?.json ?? {});
    });
    t.after(webhook.close);
    const { reader, secretOf, url } = await openShop(t, { N8N_URL: webhook.url });
    env = { SVC_URL: url };
    for (const name of ['TASK', 'DECISIONS', 'NOTIFY']) env[`SVC_${name}_SECRET`] = secretOf(name);
    await reader.follow(blocksOf('n8n'));

    const [request] = (JSON.parse(blockOf('n8n-send').text) as { nodes: HttpRequestNode[] }).nodes;
    const send = async (path: string, fields: object) => {
      const items = await runCodeNode(blockOf('n8n-sign').text, { items: [{ json: { path, fields } }], env });
      const [answer] = await runHttpNode(request ?? assert.fail(), { items, env });
      return answer;
    };
    const task = await send('/task', {
      agent: 'claude',
      prompt: 'Fix the typo: "ä → ö" \\n',
      dispatch: true,
    });
    assert.deepEqual([task?.status, task?.body.dispatched], [201, false]);
    const has = (name: string) => seen.find(({ event }) => event === name);
    const { decision_id: id } = await until(() => has('needs_approval') ?? null, 'needs_approval');
    const approved = await send(`/decisions/${id}/approve`, { decision_id: id });
    assert.deepEqual([approved?.status, approved?.body.state], [200, 'approved']);
    await until(() => has('sealed'), 'sealed');
    assert.deepEqual(
      seen.map(({ event }) => event),
      ['alert', 'task_created', 'needs_approval', 'approved', 'dispatched', 'sealed'],
    );

    const body = Buffer.from('{"event":"sealed"}');
    const time = String(Math.floor(Date.now() / 1000));
    const sign = (at: string): string =>
      createHmac('sha256', env.SVC_NOTIFY_SECRET ?? '')
        .update(`${at}.`)
        .update(body)
        .digest('hex');
    const old = String(Number(time) - 301);
    for (const headers of [
      { 'x-svc-timestamp': time, 'x-svc-signature': '00'.repeat(32) },
      { 'x-svc-timestamp': time, 'x-svc-signature': 'short' },
      { 'x-svc-timestamp': time },
      { 'x-svc-timestamp': old, 'x-svc-signature': sign(old) },
      { 'x-svc-signature': sign('undefined') },
    ])
      await assert.rejects(
        verify({ json: { headers }, binary: { data: body } }),
        /not from svc/,
        JSON.stringify(headers),
      );
  });

  test('the n8n recipe without a tunnel reads a decision from a linked server and makes it there', async (t) => {
    const seen: Record<string, unknown>[] = [];
    let env: Record<string, string> = {};
    const verified = blockOf('n8n-verify').text.replace('SVC_NOTIFY_SECRET', 'SVC_CATCH_SECRET');
    const webhook = await startWebhookNode(async (item) => {
      const [event] = await runCodeNode(verified, { items: [item], env });
      seen.push(event?.json ?? {});
    });
    t.after(webhook.close);
    const server = await startTestServer({ clock: systemClock, allowTarget: ['127.0.0.1/32'] });
    t.after(server.close);
    const ann = await setUpServer(server);
    await askRunningServer(server.folder, 'account.addon', { name: 'home', addon: 'n8n', on: true });
    const url = `${webhook.url}/webhook/svc`;
    const added = await ann.post('/app/settings/targets', {
      kind: 'n8n',
      name: 'n8n',
      url,
      'events[]': 'needs_approval',
    });
    env = { SVC_CATCH_SECRET: /whsec_[\w+/=]{40,}/.exec(added.text)?.[0] ?? assert.fail(added.text) };

    const { reader } = await openShop(t, { DISPLAY: ':0' });
    // The person's browser opens the page that the terminal names, and the person approves.
    const opened = join(reader.home, 'opened');
    reader.install(
      'xdg-open',
      `#!/bin/sh\nprintf '%s' "$1" > '${opened}.part' && mv '${opened}.part' '${opened}'\n`,
    );
    const allow = until(() => existsSync(opened), 'the page in the browser').then(async () => {
      const code = new URL(readFileSync(opened, 'utf8')).searchParams.get('user_code') ?? '';
      await ann.post('/device', { user_code: code });
      await ann.post('/device/answer', { user_code: code, answer: 'allow' });
    });
    const block = blockOf('n8n-linked');
    await Promise.all([
      reader.type(block.text.replace('https://svc.example.org', server.url), block.at),
      allow,
    ]);

    await reader.type('svc webhook test --route task --agent claude --prompt "Fix the typo" --dispatch');
    const event = await until(() => seen[0] ?? null, 'needs_approval at n8n');
    const [request] = (JSON.parse(blockOf('n8n-send').text) as { nodes: HttpRequestNode[] }).nodes;
    assert.ok(request);
    request.parameters.url =
      /`(={{ \$json\.url }})`/.exec(readFileSync('docs/automate/recipes.md', 'utf8'))?.[1] ?? '';
    const items = await runCodeNode(blockOf('n8n-decide').text, {
      items: [{ json: { ...event, verb: 'approve' } }],
      env,
    });
    // The list of pending decisions is sent separately from the event, possibly later.
    const answer = await until(async () => {
      const [sent] = await runHttpNode(request, { items, env });
      return sent?.status === 404 ? null : sent;
    }, 'the decision on the server');
    assert.deepEqual([answer?.status, answer?.body.state], [200, 'approved'], JSON.stringify(answer));
    assert.equal(await awaitEnd(reader, 't-1'), 'done');
    assert.match(await reader.type('svc decision show d-1'), /n8n@automation/);
  });

  test('the chat recipe lets only the named people approve', async (t) => {
    const { reader, secretOf, url } = await openShop(t);
    const sample = await reader.type(blockOf('chat').text, blockOf('chat').at);
    assert.match(sample, /200/);
    const say = async (user: string, text: string): Promise<string> => {
      const body = new URLSearchParams({
        command: '/svc',
        text,
        user_id: user,
        user_name: 'ada',
        team_id: 'T1',
      }).toString();
      const time = String(Math.floor(Date.now() / 1000));
      const signature = createHmac('sha256', secretOf('CHAT')).update(`v0:${time}:${body}`).digest('hex');
      const answer = await fetch(`${url}/chat`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-slack-request-timestamp': time,
          'x-slack-signature': `v0=${signature}`,
        },
        body,
      });
      const { response_type, text: said } = (await answer.json()) as { response_type: string; text: string };
      assert.equal(response_type, 'ephemeral');
      return said;
    };
    const asked = await say('U012AB3CD', 'fix the login page');
    const [task = '', decision = ''] = [/t-\d+/, /d-\d+/].map(
      (id) => id.exec(asked)?.[0] ?? assert.fail(asked),
    );
    assert.match(await say('U666', `approve ${decision}`), /not|policy/i);
    assert.match(await say('U012AB3CD', `approve ${decision}`), /approved/);
    assert.equal(await awaitEnd(reader, task), 'done');
    assert.match(await say('U012AB3CD', `status ${task}`), /done/);
    assert.match(await say('U012AB3CD', 'help'), /fix/);
  });

  test('the examples of docs/automate/receiver.md and docs/automate/events.md sign and verify, in each of their languages', async (t) => {
    const { reader, secretOf, url } = await openShop(t);
    const examples = readBlocks('docs/automate/receiver.md').filter(({ text }) =>
      text.includes('127.0.0.1:8790'),
    );
    assert.deepEqual(
      examples.map(({ language }) => language),
      ['js', 'python', 'sh'],
    );
    await reader.type(`export SVC_WEBHOOK_SECRET=${secretOf('TASK')}`);
    const programs: Record<string, string> = {
      js: 'node --input-type=module',
      python: 'python3',
      sh: 'bash -e',
    };
    for (const [index, { language, text, at }] of examples.entries()) {
      const here = text.replace('http://127.0.0.1:8790', url);
      const printed = await reader.type(`${programs[language]} <<'END'\n${here}END\n`, at);
      assert.match(printed, new RegExp(`t-${index + 1}\\b`), at);
    }

    const [verify] = readBlocks('docs/automate/events.md').filter(({ text }) => text.includes('isFromSvc'));
    const body = '{"event":"sealed"}';
    const time = String(Math.floor(Date.now() / 1000));
    const signature = createHmac('sha256', 'secret').update(`${time}.${body}`).digest('hex');
    const ask = (given: string, secret: string): string =>
      `console.log(isFromSvc({'x-svc-timestamp': '${time}', 'x-svc-signature': '${given}'}, '${body}', '${secret}'))`;
    const checks = [ask(signature, 'secret'), ask(signature, 'other'), ask('', 'secret')].join('\n');
    const said = await reader.type(
      `node --input-type=module <<'END'\n${verify?.text}${checks}\nEND\n`,
      verify?.at,
    );
    assert.equal(said, 'true\nfalse\nfalse\n');
  });
});
