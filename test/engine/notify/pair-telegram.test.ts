import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { NO_PROXIES } from '../../../engine/core/http/proxies.ts';
import { pairTelegram } from '../../../engine/notify/push/pair-telegram.ts';
import { startTelegram, type TelegramFixture } from '../../../fixtures/telegram/telegram.ts';
import { until } from '../../support/wait.ts';
import { makeWorkspace, SVC } from '../../support/workspaces/workspace.ts';

const ANN = { id: 4201, first_name: 'Ann' };
const BOB = { id: 4202, first_name: 'Bob\u001b]0;x\u0007' };

describe('finding the id of a chat', () => {
  let telegram: TelegramFixture;
  let closing: AbortController;
  beforeEach(async () => {
    telegram = await startTelegram();
    closing = new AbortController();
  });
  afterEach(async () => {
    closing.abort();
    await telegram.close();
  });

  /** Starts to pair; resolves once a person can act. */
  async function start(token = telegram.token) {
    let code: string | null = null;
    const paired = pairTelegram({
      token,
      url: telegram.url,
      proxies: NO_PROXIES,
      signal: closing.signal,
      onReady(_, given) {
        code = given;
      },
    });
    paired.catch(() => undefined);
    return { paired, code: () => until(() => code, 'the code') };
  }

  test('the chat is the one that sends the code, and no other', async () => {
    telegram.say(BOB, '/start');
    const { paired, code } = await start();
    telegram.say(BOB, `/start ${(await code()).slice(1)}`);
    telegram.fail('getUpdates', { code: 502, description: 'Bad Gateway' });
    telegram.say(ANN, `/start ${(await code()).toLowerCase()}`);
    assert.deepEqual(await paired, { chat: '4201', name: 'Ann' });
    assert.equal(telegram.messagesTo(ANN.id).length, 1);
  });

  test('a group has its own id, and its name is printable', async () => {
    const { paired, code } = await start();
    const group = { id: -1001234567890, type: 'supergroup', title: 'team\u001b[31m' } as const;
    telegram.say(BOB, `/start@svc_test_bot ${await code()}`, group);
    assert.deepEqual(await paired, { chat: '-1001234567890', name: 'team\\x1b[31m' });
  });

  test('a refused token, another program and a webhook end it with the reason', async () => {
    const wrong = await start('1:wrong');
    await assert.rejects(wrong.paired, { code: 'token_invalid' });
    const { paired, code } = await start();
    await code();
    await until(() => telegram.calls.some(({ method }) => method === 'getUpdates'), 'a poll');
    await fetch(`${telegram.url}bot${telegram.token}/getUpdates`, { method: 'POST', body: '{}' });
    await assert.rejects(paired, { code: 'conflict', message: /another program polls/ });
    telegram.webhook = { url: 'https://svc.example/x', secret: null };
    const hooked = await start();
    await assert.rejects(hooked.paired, { code: 'conflict', message: 'the bot has a webhook' });
  });

  test('giving up ends it at once', async () => {
    const { paired, code } = await start();
    await code();
    closing.abort();
    await assert.rejects(paired, { code: 'cancelled' });
  });
});

test('svc notify pair prints the link, and then the command that adds the chat to the others', async (t) => {
  const telegram = await startTelegram();
  t.after(telegram.close);
  const ws = await makeWorkspace();
  t.after(ws.close);
  const lacking = await ws.svc(['notify', 'pair']);
  assert.equal(lacking.code, 1);
  assert.match(lacking.stderr, /SVC_TELEGRAM_TOKEN is not set[\s\S]*@BotFather.*keys\.env/);
  const ntfy = [{ kind: 'ntfy', topic_env: 'SVC_NTFY_TOPIC' }];
  assert.equal((await ws.svc(['config', 'set', 'notify.push', JSON.stringify(ntfy)])).code, 0);
  const pair = spawn(process.execPath, [SVC, 'notify', 'pair', '--url', telegram.url], {
    cwd: ws.root,
    env: { ...ws.env, SVC_TELEGRAM_TOKEN: telegram.token },
  });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    pair[name].setEncoding('utf8').on('data', (text: string) => {
      said[name] += text;
    });
  const [, code] = await until(
    () => /^open https:\/\/t\.me\/svc_test_bot\?start=(\w+) and press Start/.exec(said.stderr),
    'the link',
  );
  telegram.say(ANN, `/start ${code}`);
  const [status] = await once(pair, 'close');
  assert.equal(status, 0);
  assert.match(
    said.stdout,
    /^Ann is chat 4201\nsvc config set notify\.push '\[.*"SVC_NTFY_TOPIC".*"chat":"4201"\}\]'\n$/,
  );
  assert.ok(!`${said.stdout}${said.stderr}`.includes(telegram.token.slice(10)));
});
