import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import { parse } from 'yaml';
import { until } from '../../../../support/wait.ts';
import { type SlackRig, startSlackRig } from './rig.ts';

interface Manifest {
  oauth_config: { scopes: { bot: string[] } };
  settings: {
    event_subscriptions: { bot_events: string[] };
    interactivity: { is_enabled: boolean };
    socket_mode_enabled: boolean;
  };
}

const blocks = readFileSync('docs/team/server.md', 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g);
const manifests = [...blocks].map(([, text]) => text ?? '').filter((text) => text.includes('oauth_config'));
const manifest = parse(manifests[0] ?? '') as Manifest;

let rig: SlackRig;
afterEach(() => rig?.close());

/** Uses every feature of a bot; returns the failures. */
async function tryEverything(scopes: readonly string[]): Promise<string[]> {
  const { event_subscriptions, interactivity, socket_mode_enabled } = manifest.settings;
  rig = await startSlackRig({
    slack: {
      scopes,
      events: event_subscriptions.bot_events,
      isInteractive: interactivity.is_enabled,
      isSocketMode: socket_mode_enabled,
    },
  });
  const faults: string[] = [];
  const posted = await rig.post('Approve').catch(() => null);
  if (posted === null) faults.push('messages');
  else {
    if ((await rig.slack.press(posted, 'Approve', 'U1')) === 'failed') faults.push('presses');
    await until(() => rig.slack.privateTo('U1').length === 1, 'a private answer');
    await rig.service.edit('C1', posted.ts, { lines: [[{ text: 'x', isOutside: false }]], buttons: [] });
  }
  if ((await rig.slack.say('D1', 'U1', 'help')) === 'failed') faults.push('direct messages');
  else if (rig.words[0]?.user.name !== 'Ann') faults.push('names');
  if ((await rig.slack.say('C1', 'U2', 'help')) === 'failed') faults.push('mentions');
  return faults;
}

describe('the manifest in docs/team/server.md', () => {
  it('the documented manifest is sufficient', async () => {
    assert.equal(manifests.length, 1);
    assert.deepEqual(await tryEverything(manifest.oauth_config.scopes.bot), []);
  });

  const NEEDED: [string, string][] = [
    ['app_mentions:read', 'mentions'],
    ['chat:write', 'messages'],
    ['im:history', 'direct messages'],
    ['users:read', 'names'],
  ];
  for (const [scope, what] of NEEDED)
    it(`the documented manifest needs ${scope} for ${what}`, async () => {
      const { bot } = manifest.oauth_config.scopes;
      assert.deepEqual(await tryEverything(bot.filter((each) => each !== scope)), [what]);
    });

  it('the documented manifest requests no other scope', () => {
    assert.deepEqual(
      manifest.oauth_config.scopes.bot,
      NEEDED.map(([scope]) => scope),
    );
  });
});
