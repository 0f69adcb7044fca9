import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Caller } from '../../../engine/core/api/operation.ts';
import { buildHello } from '../../../engine/daemon/hello.ts';
import { openBesideHostileServer } from '../../support/server/hostile-server.ts';
import { until } from '../../support/wait.ts';

test('the linked server receives titles that a person gave, and none that an agent gave in any way', async (t) => {
  const { server, here } = await openBesideHostileServer(t);
  await here.call('link.start', { server: server.url, token: 'svcm_machine' });
  await until(async () => (await here.call('link.status', {})).state === 'connected');
  const hello = (env: NodeJS.ProcessEnv): Caller['env'] =>
    buildHello({ cwd: '/', env, via: 'cli', attends: false }).env;
  const callers: [word: string, isPersons: boolean, caller: Partial<Caller>][] = [
    ['heron', true, { via: 'tui' }],
    ['stork', true, { via: 'cli', env: hello({ CLAUDE_CONFIG_DIR: '/x', SVC_SESSION_NAME: 'x' }) }],
    ['raven', false, { via: 'tool' }],
    ['finch', false, { via: 'cli', env: hello({ SVC_AGENT: 'claude' }) }],
    ['egret', false, { via: 'cli', env: hello({ CLAUDECODE: '1' }) }],
    ['robin', false, { via: 'cli', env: hello({ GEMINI_CLI: '1' }) }],
  ];
  for (const [word, isPersons, caller] of callers) {
    const task = { title: `${word} in the reeds`, body: 'x', agent: 'scripted' };
    const { task_id: id } = await here.call('task.add', task, caller);
    const findTold = () =>
      server.received.find(({ path, text }) => path === '/v1/events' && text.includes(`"${id}\\"`));
    const { text } = await until(findTold, `what was told of ${id}`);
    assert.equal(text.includes(word), isPersons, text);
  }
});
