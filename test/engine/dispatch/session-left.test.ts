import assert from 'node:assert/strict';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { findPreset } from '../../../engine/workers/agents/presets/index.ts';
import type { RunLeft } from '../../../engine/workers/agents/presets/preset.ts';
import { until } from '../../support/wait.ts';
import { makeRig, type Rig } from './rig.ts';

const ID = (digit: number): string => `${String(digit).repeat(8)}-0000-4000-8000-000000000000`;
const SINCE = Date.parse('2026-01-02T00:00:00Z');
const about = (id: string, more: Record<string, unknown> = {}): string =>
  Object.entries({
    id,
    cwd: '/w',
    name: 'w-1',
    user_named: true,
    created_at: '2026-01-02T00:00:01Z',
    ...more,
  })
    .map(([key, value]) => `${key}: ${String(value)}\n`)
    .join('');

describe('the session of a copilot that ended before it reported its id', () => {
  let top: string;
  let folder: string;
  before(() => {
    top = mkdtempSync(join(tmpdir(), 'svc-left-'));
  });
  after(() => rmSync(top, { recursive: true, force: true }));

  function keep(id: string, text: string): string {
    mkdirSync(join(folder, id), { recursive: true });
    writeFileSync(join(folder, id, 'workspace.yaml'), text);
    return join(folder, id);
  }
  const anew = (): void => {
    folder = join(mkdtempSync(join(top, 'home-')), '.copilot', 'session-state');
    mkdirSync(folder, { recursive: true });
  };
  const found = async (more: Partial<RunLeft> = {}): Promise<string | null> => {
    const home = join(folder, '..', '..');
    const run = { top, home, env: {}, cwd: '/w', name: 'w-1', since: SINCE, continued: null, ...more };
    return (await findPreset('copilot')?.findSession?.(run)) ?? null;
  };

  test('the session found is the newest in its folder, under its name and after its start', async () => {
    anew();
    assert.equal(await found(), null);
    keep(ID(1), about(ID(1)));
    keep(ID(2), about(ID(2), { created_at: '2026-01-02T00:00:09Z' }));
    keep(ID(3), about(ID(3), { cwd: '/w/deeper', created_at: '2026-01-03T00:00:00Z' }));
    keep(ID(4), about(ID(4), { name: 'w-2', created_at: '2026-01-03T00:00:00Z' }));
    keep(ID(5), about(ID(5), { user_named: false, created_at: '2026-01-03T00:00:00Z' }));
    keep('latest', about(ID(6), { created_at: '2026-01-03T00:00:00Z' }));
    assert.equal(await found(), ID(2));
    assert.equal(await found({ home: '/', top: '/', env: { COPILOT_HOME: join(folder, '..') } }), ID(2));
    assert.equal(await found({ since: Date.parse('2026-01-02T00:00:10Z') }), null);
  });

  test('the session found is never unreadable or behind a link', async () => {
    anew();
    const elsewhere = join(top, 'elsewhere');
    mkdirSync(join(elsewhere, ID(1)), { recursive: true });
    writeFileSync(join(elsewhere, ID(1), 'workspace.yaml'), about(ID(1)));
    symlinkSync(join(elsewhere, ID(1)), join(folder, ID(1)));
    mkdirSync(join(folder, ID(2)));
    symlinkSync(join(elsewhere, ID(1), 'workspace.yaml'), join(folder, ID(2), 'workspace.yaml'));
    keep(ID(3), 'cwd: [/w\nname: *none');
    keep(ID(4), '');
    keep(ID(5), about(ID(5)) + '#'.repeat(1024 * 1024));
    keep(ID(6), about(ID(6), { created_at: 'soon' }));
    mkdirSync(join(folder, ID(7), 'workspace.yaml'), { recursive: true });
    assert.equal(await found(), null);

    const home = mkdtempSync(join(top, 'home-'));
    mkdirSync(join(home, '.copilot'));
    symlinkSync(elsewhere, join(home, '.copilot', 'session-state'));
    assert.equal(await found({ home }), null);
    symlinkSync(join(folder, '..', '..'), join(top, 'linked'));
    keep(ID(8), about(ID(8)));
    assert.equal(await found(), ID(8));
    assert.equal(await found({ home: join(top, 'linked') }), null);
  });

  test('the session stays the resumed one, once it was resumed', async () => {
    anew();
    keep(ID(1), about(ID(1)));
    const events = join(keep(ID(2), about(ID(2), { name: 'w-0' })), 'events.jsonl');
    assert.equal(await found({ continued: ID(2) }), null);
    writeFileSync(events, '{}\n');
    assert.equal(await found({ continued: ID(2) }), ID(2));
    utimesSync(events, SINCE / 1000 - 60, SINCE / 1000 - 60);
    assert.equal(await found({ continued: ID(2) }), null);
    assert.equal(await found({ continued: '../../elsewhere' }), null);
  });
});

describe('a copilot that was killed', () => {
  let rig: Rig;
  let person: string;
  before(async () => {
    person = mkdtempSync(join(tmpdir(), 'svc-left-'));
    rig = await makeRig({
      env: { HOME: person },
      commands: { copilot: 'copilot --name={{name}} -- {{prompt}}' },
    });
    const bin = join(rig.ws.repository.folder, 'bin');
    copyFileSync(join(bin, 'claude'), join(bin, 'copilot'));
  });
  after(async () => {
    await rig.close();
    rmSync(person, { recursive: true, force: true });
  });

  test('a killed copilot resumes its own session, in a new one of ours', async () => {
    const home = join(person, '.copilot', 'session-state', ID(1));
    const mine = `id: ${ID(1)}\\ncwd: %s\\nname: %s\\nuser_named: true\\ncreated_at: %s\\n`;
    const { session_id } = await rig.run(
      [
        `run mkdir -p '${home}' && printf '${mine}' "$PWD" "$SVC_NAME" "$(date -u +%FT%T.%3NZ)" > '${home}/workspace.yaml'`,
        'say begun',
        'hang',
      ],
      { agent: 'copilot' },
    );
    await until(
      async () =>
        (await rig.session(session_id)).log_written_at !== null && /^begun$/m.test(rig.log(session_id)),
      'its first word',
    );
    await rig.here().call('worker.kill', { session: session_id });
    assert.equal((await rig.settled(session_id)).agent_session, ID(1));
    const more = await rig.here().call('worker.resume', { session: session_id });
    await rig.settled(more.session_id);
    assert.ok(
      rig
        .starts()
        .at(-1)
        ?.includes(`--resume=${ID(1)}`),
      JSON.stringify(rig.starts().at(-1)),
    );
  });
});
