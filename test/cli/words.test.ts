import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Message, Task, WireValue } from '../../engine/index.ts';
import { makeWorkspace, type TestWorkspace } from '../support/workspaces/workspace.ts';

describe('the arguments of a command line', () => {
  let ws: TestWorkspace;
  before(async () => {
    ws = await makeWorkspace({ hosted: true });
  });
  after(() => ws.close());

  test('a value may be a dash, or start with one', async () => {
    for (const words of [
      ['T', '--prompt', '-'],
      ['T', '-p', '-'],
      ['--prompt', '-', 'T'],
      ['T', '--prompt=-'],
    ]) {
      const added = await ws.svc(['task', 'add', ...words, '--json'], { input: '- from --stdin\n' });
      const task = added.json<WireValue<Task>>();
      assert.deepEqual([task.title, task.prompt], ['T', '- from --stdin\n'], words.join(' '));
    }
    const added = await ws.svc(['task', 'add', 'T', '--prompt', '--run is an option', '--json']);
    assert.equal(added.json<WireValue<Task>>().prompt, '--run is an option');
  });

  test('an argument may start with a dash where it is not an option', async () => {
    assert.equal((await ws.svc(['msg', 'send', '- first\n- second', '-t', 'ada'])).code, 0);
    assert.equal((await ws.svc(['msg', 'send', '-t', 'ada', '--', '--json'])).code, 0);
    const [last, first] = (await ws.svc(['msg', 'list', '--json'])).json<WireValue<Message>[]>();
    assert.deepEqual([first?.body, last?.body], ['- first\n- second', '--json']);
    const shown = await ws.svc(['msg', 'show', String(first?.id)]);
    assert.match(shown.stdout, /^to +ada$[\s\S]*\n\n- first\n- second\n$/m);
  });

  test('errors use the terms of the command line for missing and misspelt arguments', async () => {
    const none = await ws.svc(['msg', 'send', 'x']);
    assert.match(none.stderr, /missing recipient\nhint: one of --to-session/);
    const unknown = await ws.svc(['msg', 'send', 'x', '--to-role', 'parent']);
    assert.match(unknown.stderr, /hint: svc tool call msg_roster/);
    const misspelt = await ws.svc(['tool', 'call', 'task_lst']);
    assert.equal(misspelt.code, 4);
    assert.match(misspelt.stderr, /hint: did you mean task_list\?/);
    const empty = await ws.svc(['tool', 'call', 'msg_send']);
    assert.equal(empty.code, 2);
    assert.match(empty.stderr, /^error: body: is missing$/m);
  });

  test('errors name empty, too small and non-numeric values', async () => {
    for (const [line, said] of [
      ['task show|', 'id: must not be empty'],
      ['task list|--limit|0', 'limit: must be at least 1'],
      ['task list|--limit|100001', 'limit: must be at most 100000'],
      ['lock acquire|a|--holder|ada|--ttl|0', 'ttl_min: must be at least 1'],
      ['notify redeliver|x', 'no delivery "x"'],
      ['msg ack|', 'no message ""'],
      ['tool call|task_list|--limit|x', '--limit takes a value of type integer, not "x"'],
      ['config get|', 'no key was named'],
    ] as const) {
      const { stderr } = await ws.svc(
        line.split('|').flatMap((word, at) => (at === 0 ? word.split(' ') : word)),
      );
      assert.ok(stderr.startsWith(`error: ${said}`), `${line}: ${stderr}`);
    }
  });

  test('svc tool show lists the parameters, and so does the help of a call', async () => {
    const shown = await ws.svc(['tool', 'show', 'msg_send']);
    assert.match(shown.stdout, /^ {2}--body <string> +required; /m);
    assert.match(shown.stdout, /^ {2}--kind note\|handoff\|alert +/m);
    assert.equal((await ws.svc(['tool', 'call', 'msg_send', '--help'])).stdout, shown.stdout);
    assert.match((await ws.svc(['tool', 'call', '--help'])).stdout, /^usage: svc tool call <name>/m);
    assert.equal((await ws.svc(['tool', 'show', 'nothing'])).code, 4);
  });
});
