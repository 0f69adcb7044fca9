import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { test } from 'node:test';
import { hookFileOf } from '../../cli/clients/hook-files.ts';
import { planHooks } from '../../cli/clients/hook-install.ts';
import { temporaryFolder } from '../support/git.ts';

test('taking the hooks out leaves what others put in, and no file that holds nothing', async (t) => {
  const root = temporaryFolder();
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const [name, others] of [
    ['claude', '{"model": "a-model"}\n'],
    ['codex', 'model = "a-model"\n'],
  ] as const) {
    const agent = hookFileOf(name)!;
    const env = { HOME: root, CODEX_HOME: root };
    const place = { scope: name === 'codex' ? 'user' : 'project', root, env } as const;
    const svc = ['svc'];
    for (const before of ['', others]) {
      const { file } = await planHooks(agent, place, svc);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, before);
      writeFileSync(file, (await planHooks(agent, place, svc)).text ?? '');
      const plan = await planHooks(agent, place, null);
      assert.equal(plan.change, 'removed');
      if (before === '') assert.equal(plan.text, null, name);
      else assert.match(plan.text ?? '', /a-model/, name);
      rmSync(file);
    }
  }
});
