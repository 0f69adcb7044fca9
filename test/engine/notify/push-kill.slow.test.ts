import assert from 'node:assert/strict';
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startNtfy } from '../../../fixtures/ntfy/ntfy.ts';
import { startTelegram } from '../../../fixtures/telegram/telegram.ts';
import { until } from '../../support/wait.ts';
import { makeWorkspace } from '../../support/workspaces/workspace.ts';

const TOPIC = 'svc-topic-nobody-guesses';
const ANN = { id: 4201, first_name: 'Ann' };

test('an engine that is killed around a message loses none, and ntfy shows each once', async (t) => {
  const ntfy = await startNtfy();
  t.after(ntfy.close);
  const telegram = await startTelegram();
  t.after(telegram.close);
  telegram.say(ANN, '/start');
  const ws = await makeWorkspace({ events: [] });
  t.after(ws.close);
  const push = [
    { kind: 'ntfy', url: ntfy.url, topic_env: 'SVC_NTFY_TOPIC' },
    { kind: 'telegram', url: telegram.url, token_env: 'SVC_BOT', chat: ANN.id },
  ];
  await ws.svc(['config', 'set', 'notify.push', JSON.stringify(push)]);
  await ws.connect();
  const missing = await ws.svc(['notify', 'test']);
  assert.equal(missing.code, 1);
  assert.match(missing.stdout, /^ntfy .* SVC_NTFY_TOPIC: secret_missing: SVC_NTFY_TOPIC is not set$/m);
  const status = await ws.svc(['status']);
  assert.match(status.stdout, /not delivered +telegram .*SVC_BOT 4201: secret_missing: SVC_BOT is not set/);
  const doctor = await ws.svc(['doctor']);
  assert.match(doctor.stdout, /warn +notify +ntfy .*SVC_NTFY_TOPIC is not set/);
  appendFileSync(
    join(ws.env.SVC_HOME ?? '', 'keys.env'),
    `SVC_NTFY_TOPIC=${TOPIC}\nSVC_BOT=${telegram.token}\n`,
    { mode: 0o600 },
  );
  assert.equal((await ws.svc(['notify', 'test'])).code, 0, 'without a restart');

  // Killed before the message leaves, while it is under way, and after the service has it.
  await ws.post('one');
  await ws.killDaemon();
  await ws.connect();
  const isTold = (id: string) =>
    [ntfy.messages.map(({ message }) => message), telegram.messagesTo(ANN.id).map(({ text }) => text)].every(
      (texts) => texts.some((text) => text.includes(id)),
    );
  await until(() => isTold('t-1, d-1'), 'the first decision');
  ntfy.fail({ hang: 'after' });
  telegram.fail('sendMessage', { hang: 'before' });
  const calls = () => telegram.calls.filter(({ method }) => method === 'sendMessage').length;
  const before = { calls: calls(), requests: ntfy.requests.length };
  await ws.post('two');
  await until(() => ntfy.requests.length > before.requests && calls() > before.calls, 'messages under way');
  await ws.killDaemon();
  await ws.connect();
  await until(() => isTold('t-2, d-2'), 'the second decision');
  const list = async () => (await ws.svc(['notify', 'deliveries', '--json'])).stdout;
  await until(async () => !(await list()).includes('"pending"'), 'the end of the deliveries');
  const shown = ntfy.messages.filter(({ message }) => message.includes('t-2, d-2'));
  assert.deepEqual([shown.length, shown[0]?.times], [1, 2]);
  assert.equal(telegram.messagesTo(ANN.id).filter(({ text }) => text.includes('t-2, d-2')).length, 1);
  const logs = join(ws.root, '.svc', 'log');
  const told = [
    await list(),
    (await ws.svc(['status', '--json'])).stdout,
    ...readdirSync(logs).map((name) => readFileSync(join(logs, name), 'utf8')),
  ].join();
  for (const secret of [TOPIC, telegram.token.slice(10)]) assert.ok(!told.includes(secret));
});
