import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { type AdminVerb, askRunningServer } from '../../../../engine/linked-server/index.ts';
import { SLACK_APP, startSlack } from '../../../../fixtures/slack/slack.ts';
import { startTelegram } from '../../../../fixtures/telegram/telegram.ts';
import { AUTHORITY } from '../../../../fixtures/tls/certificate.ts';
import { startConnectProxy } from '../../../support/gateway/connect-proxy.ts';
import { startServerProgram } from '../../../support/server/server-program.ts';
import { startTlsBefore } from '../../../support/server/tls-before.ts';
import { until } from '../../../support/wait.ts';
import { temporaryFolder } from '../../../support/workspaces/git.ts';

it('both chats are reached by https through HTTPS_PROXY, with the certificates of NODE_EXTRA_CA_CERTS', async (t) => {
  const slack = await startSlack({ shownOrigin: 'https://slack.svc.test' });
  t.after(() => slack.close());
  const telegram = await startTelegram();
  t.after(() => telegram.close());
  const authority = join(temporaryFolder(), 'authority.pem');
  writeFileSync(authority, AUTHORITY);
  const proxy = await startConnectProxy();
  t.after(() => proxy.close());
  for (const [host, url] of [
    ['slack.svc.test', slack.api],
    ['telegram.svc.test', telegram.url],
  ] as const) {
    const tls = await startTlsBefore(Number(new URL(url).port));
    t.after(() => tls.close());
    proxy.routes[`${host}:443`] = tls.port;
  }
  const args = ['--slack-api', 'https://slack.svc.test/api/', '--telegram-api', 'https://telegram.svc.test/'];
  const folder = temporaryFolder('server-');
  const ask = async (verb: string, input: object = {}) =>
    (await askRunningServer(folder, verb as AdminVerb, input))?.result;
  const list = async () =>
    (await ask('chat.list')) as { service: string; state: string; problem: string | null }[];

  const env = { https_proxy: proxy.url, NODE_EXTRA_CA_CERTS: authority };
  let program = await startServerProgram(folder, { args, env });
  t.after(() => program.stop());
  await ask('chat.set', { kind: 'telegram', settings: { token: telegram.token } });
  await ask('chat.set', {
    kind: 'slack',
    settings: {
      bot_token: SLACK_APP.botToken,
      app_token: SLACK_APP.appToken,
      team_id: SLACK_APP.teamId,
    },
  });
  await until(async () => (await list()).every(({ state }) => state === 'open'), 'both bots');
  assert.equal(slack.sockets.open(), 1, 'Socket Mode uses the tunnel too');
  const targets = new Set(proxy.asked.map(({ target }) => target));
  assert.deepEqual([...targets].sort(), ['slack.svc.test:443', 'telegram.svc.test:443']);
  assert.deepEqual(proxy.fetched, []);

  // Without the certificate no connection is trusted, and a broken address affects only the bots.
  await program.stop();
  program = await startServerProgram(folder, { args, env: { HTTPS_PROXY: proxy.url } });
  await until(async () => {
    const problems = (await list()).map(({ problem }) => problem);
    return problems.join() === 'Slack cannot be reached,Telegram cannot be reached';
  }, 'both problems');
  await program.stop();
  program = await startServerProgram(folder, { args, env: { HTTPS_PROXY: 'http://me:secret@ho st' } });
  const problems = await until(async () => {
    const found = (await list()).map(({ state, problem }) => `${state}: ${problem}`);
    return found.every((each) => each.startsWith('failing')) ? found : null;
  }, 'the problem of both');
  assert.deepEqual(new Set(problems), new Set(['failing: HTTPS_PROXY is not an address']));
});
