import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { quoteForShell } from '../../../../engine/core/base/text.ts';
import type { ProjectSetup, WireValue } from '../../../../engine/index.ts';
import { until } from '../../../support/wait.ts';
import { isRunning, makeWorkspace, SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

describe('svc project', () => {
  let ws: TestWorkspace;
  let script: string;
  const file = (name: string): string => join(ws.repository.folder, name);
  const read = (name: string): string => (existsSync(file(name)) ? readFileSync(file(name), 'utf8') : '');

  before(async () => {
    ws = await makeWorkspace();
    const svc = `'${process.execPath}' '${SVC}' project`;
    script = [
      `echo $$ >>'${file('pids')}'`,
      `${svc} untrust api; echo $? >>'${file('codes')}'`,
      `until [ -e '${file('gate')}' ]; do sleep 0.02; done`,
    ].join('; ');
    const entry = { id: 'api', path: 'app', setup: [`sh -c ${quoteForShell(script)}`], env_files: ['.env'] };
    const yaml = join(ws.root, 'svc.yaml');
    writeFileSync(yaml, `${readFileSync(yaml, 'utf8')}projects: ${JSON.stringify([entry])}\n`);
  });
  after(() => ws.close());

  test('svc project shows what would run, agrees to it, and revokes that', async () => {
    const doctor = await ws.svc(['doctor', '--json']);
    const check = doctor
      .json<{ check: string; state: string; found: string }[]>()
      .find((each) => each.check === 'project setup');
    assert.equal(check?.state, 'warn');
    assert.match(check?.found ?? '', /api \(never\)/);
    assert.match(
      (await ws.svc(['project', 'list'])).stdout,
      /^workspace\tnothing\t-\t.*\napi\t1 setup, 1 file\tnone\t/,
    );
    const unasked = await ws.svc(['project', 'trust', 'api']);
    assert.equal(unasked.code, 2);
    assert.ok(
      unasked.stderr.includes(`setup     sh -c ${quoteForShell(script)}\ncopies    .env\n`),
      unasked.stderr,
    );
    const yes = await ws.svc(['project', 'trust', 'api', '--json'], { env: { SVC_SETUP_YES: '1' } });
    assert.equal(yes.json<WireValue<ProjectSetup>>().consent, 'given', yes.stderr);
    assert.equal(
      (await ws.svc(['project', 'untrust', 'api', '--json'])).json<WireValue<ProjectSetup>>().consent,
      'none',
    );
  });

  test('a setup cannot use svc project; a killed setup runs again, and never twice at the same time', async () => {
    const client = await ws.connect();
    const { digest } = await client.call('project.show', { id: 'api' });
    await client.call('project.trust', { id: 'api', digest });
    const { task_id } = await client.call('task.add', {
      body: '#agent: no-change',
      project: 'api',
    });
    await client.call('task.run', { id: task_id });
    await until(() => read('codes') === '3\n');
    const first = Number(read('pids'));
    await ws.killDaemon();
    assert.equal(isRunning(first), true, 'it outlives its engine');
    const next = await ws.connect();
    await until(() => read('codes') === '3\n3\n');
    assert.equal(isRunning(first), false);
    writeFileSync(file('gate'), '');
    const [session] = await until(async () => {
      const all = await next.call('session.list');
      return all[0]?.state === 'ended' && all;
    });
    assert.deepEqual([session?.failure, session?.runs], [null, 1]);
    assert.equal(read('pids').split('\n').length, 3);
  });
});
