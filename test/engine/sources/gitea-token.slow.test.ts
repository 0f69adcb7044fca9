import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { AUTHORITY } from '../../../fixtures/tls/certificate.ts';
import { makeForgeWorkspace, startForge, type TestForge } from '../../support/forge.ts';
import { followIssue, writeJourneyYaml } from '../../support/issue-journey.ts';
import { makeWorkspace, type TestWorkspace } from '../../support/workspaces/workspace.ts';

const TOKEN = 'gho_token';

describe('a Gitea that is asked with a token instead of tea', () => {
  const known = getCACertificates('default');
  let forge: TestForge;
  before(async () => {
    setDefaultCACertificates([...known, AUTHORITY]);
    forge = await startForge('gitea');
    forge.source = JSON.stringify({ ...JSON.parse(forge.source), token_env: 'SVC_GITEA_TOKEN' });
  });
  after(async () => {
    setDefaultCACertificates(known);
    await forge?.close();
  });

  async function pollWith(env: Record<string, string>, source = forge.source): Promise<string | null> {
    const options = {
      yaml: `sources: [${source}]`,
      hosted: true,
      env: { ...forge.env, PATH: '/nonexistent', ...env },
    };
    const ws: TestWorkspace = await makeWorkspace(options);
    try {
      const client = await ws.connect();
      const [polled] = await client.call('source.poll', {});
      const events = JSON.stringify(await client.call('event.list', {}));
      assert.ok(!`${JSON.stringify(polled)}${events}`.includes(env.SVC_GITEA_TOKEN || TOKEN));
      return polled!.problem;
    } finally {
      await ws.close();
    }
  }

  test('the token is enough to poll, and no program is run', async () => {
    assert.equal(await pollWith({ SVC_GITEA_TOKEN: TOKEN }), null);
  });

  test('a missing and a wrong token, and an unreachable host are named without the token', async () => {
    assert.match((await pollWith({})) ?? '', /^SVC_GITEA_TOKEN is not set \(.*keys\.env/);
    assert.match(
      (await pollWith({ SVC_GITEA_TOKEN: 'wrong-token' })) ?? '',
      /^Gitea refused repos\/acme\/shop: token is required \(a token of localhost:\d+ in SVC_GITEA_TOKEN/,
    );
    const gone = forge.source.replace(forge.host.address, 'localhost:2');
    assert.equal(await pollWith({ SVC_GITEA_TOKEN: TOKEN }, gone), 'Gitea at localhost:2 cannot be reached');
  });

  test('a pause that the host asks for, a redirect and an endless answer are failures of the poll', async () => {
    const env = { SVC_GITEA_TOKEN: TOKEN };
    forge.host.refuse({ status: 429, headers: { 'retry-after': '60' } });
    assert.match((await pollWith(env)) ?? '', /limits the requests/);
    forge.host.refuse({ status: 302, headers: { location: 'https://gitea.example/' } });
    assert.match((await pollWith(env)) ?? '', /status 302/);
    forge.host.refuse({ status: 200, body: ' '.repeat(33 * 1024 * 1024) });
    assert.match((await pollWith(env)) ?? '', /more than 33554432 bytes/);
    forge.host.refuse(null);
  });

  test('an issue goes from its label to a merged pull request', async (t) => {
    forge.env = { ...forge.env, SVC_GITEA_TOKEN: TOKEN };
    const ws = await makeForgeWorkspace(forge, { yaml: writeJourneyYaml(forge) });
    t.after(() => ws.close());
    const client = await ws.connect();
    await followIssue(forge, client.call, async ({ decision: id }) => {
      const { decision } = await client.call('decision.show', { id });
      await client.call('decision.approve', { id, hash: decision.hash });
    });
  });
});
