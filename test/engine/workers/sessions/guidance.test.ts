import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type EngineHost, hostEngine } from '../../../../engine/index.ts';
import { chooseLanguage } from '../../../../engine/workers/sessions/guidance/language.ts';
import {
  GUIDANCE_RULES,
  type GuidanceRule,
  keyOfRule,
} from '../../../../engine/workers/sessions/guidance/rules.ts';
import { ended, started } from '../../../support/agents/strict.ts';
import { type EngineHere, engineHere } from '../../../support/workspaces/engine.ts';
import { requireLocalPath } from '../../../support/workspaces/local-path.ts';
import { makeWorkspace, SVC, type TestWorkspace } from '../../../support/workspaces/workspace.ts';

/** Claude truncates a server's instructions at this length. */
const MOST_CHARACTERS = 2048;

const LANGUAGES = ['en', 'de', 'es', 'fr', 'ja', 'zh'];

test("the language is the locale's, in either notation", () => {
  for (const [locale, language] of [
    ['', 'en'],
    ['de', 'de'],
    ['de-AT', 'de'],
    ['fr_CA.UTF-8', 'fr'],
    ['zh-Hans-CN', 'zh'],
    ['JA', 'ja'],
    ['es@euro', 'es'],
  ] as const) {
    const { language: chosen, isFallback } = chooseLanguage(locale);
    assert.deepEqual([chosen, isFallback], [language, false], locale);
  }
  for (const locale of ['pt-BR', 'C', 'no language', '-', 'x'.repeat(10_000), '../de', 'constructor'])
    assert.deepEqual(
      [chooseLanguage(locale).language, chooseLanguage(locale).isFallback],
      ['en', true],
      locale,
    );
});

test('every language has every rule, and names the same operations in it', () => {
  const listNamed = (language: string, rule: GuidanceRule): string[] => {
    const named: string[] = [];
    chooseLanguage(language).texts[rule].render(({ operation }) => {
      named.push(operation);
      return operation;
    });
    return named.sort();
  };
  for (const rule of Object.keys(GUIDANCE_RULES) as GuidanceRule[])
    for (const language of LANGUAGES)
      assert.deepEqual(listNamed(language, rule), listNamed('en', rule), `${language} ${rule}`);
});

describe('guidance for a seat', () => {
  let ws: TestWorkspace;
  let here: EngineHere;
  let host: EngineHost;
  const WORKER = { seat: 'worker', sessionId: 's-1' } as const;
  const instructions = async (who: object = {}): Promise<string> =>
    (await here.call('seat.instructions', {}, who)).text;
  const set = (key: string, value: string) => here.call('config.set', { key, value });
  before(async () => {
    ws = await makeWorkspace();
    here = await engineHere(ws, { svc: [process.execPath, SVC] });
    host = await hostEngine(here.engine);
  });
  after(async () => {
    await host.close();
    await ws.close();
  });

  test('the guidance is in the instructions, and in the brief of a worker', async () => {
    assert.match(await instructions(), /\n- Settle open questions with the person/);
    assert.doesNotMatch(await instructions(), /Do not start workers/);
    assert.equal(await started(here, 'one\n#agent: no-change'), 's-1');
    const { worktree } = await ended(here, 's-1');
    const told = await instructions(WORKER);
    assert.match(told, /\n- Do not start workers or agents yourself\. .* say so with ask\./);
    assert.doesNotMatch(told, /Settle open questions/);
    const brief = readFileSync(join(requireLocalPath(worktree), '.svc', 'TASK_BRIEF.md'), 'utf8');
    assert.match(brief, /\n- Do not start workers .* with `ask` or `svc ask open/);
    assert.doesNotMatch(await instructions({ seat: 'plain', sessionId: null }), /\n- /);
  });

  test('each rule can be switched off by its key', async () => {
    for (const rule of Object.keys(GUIDANCE_RULES) as GuidanceRule[]) {
      const key = keyOfRule(rule);
      await set(key, 'false');
      const { seats } = await here.call('guidance.show');
      const rules = seats.flatMap((each) => each.rules).filter(({ is_on }) => !is_on);
      assert.deepEqual([...new Set(rules.map(({ key }) => key))], [key]);
      for (const [index, who] of [{}, WORKER].entries())
        for (const { text } of rules)
          assert.ok(!(await instructions(who)).includes(text), `${rule} ${index}`);
      await set(key, 'true');
    }
  });

  test('the guidance mentions no memory that is off', async () => {
    assert.match(await instructions(), /memory_remember/);
    await set('memory.enabled', 'false');
    assert.doesNotMatch(await instructions(), /memory_remember/);
    await set('memory.enabled', 'true');
  });

  test('the guidance names no missing tools', async () => {
    assert.match(await instructions(), /context_externalize/);
    assert.match(await instructions(WORKER), /`svc context crush`/);
    await set('context.guidance.mcp_tools', 'false');
    assert.doesNotMatch(await instructions(), /context_/);
    assert.match(await instructions(WORKER), /`svc context crush`/);
    await set('context.guidance.mcp_tools', 'true');
  });

  test('the guidance follows svc.yaml from the call after an edit, and an emptied file is treated as one that is being written', async () => {
    const file = join(ws.root, 'svc.yaml');
    const written = readFileSync(file, 'utf8');
    const showsFanout = async (): Promise<boolean> => {
      const { seats } = await here.call('guidance.show', { seat: 'worker' });
      return seats[0]?.rules.find(({ key }) => key.endsWith('workers_no_fanout'))?.is_on === true;
    };
    assert.equal(await showsFanout(), true);
    writeFileSync(file, written.replace('workers_no_fanout: true', 'workers_no_fanout: false'));
    assert.equal(await showsFanout(), false);
    writeFileSync(file, '');
    assert.equal(await showsFanout(), false);
    writeFileSync(file, written);
    assert.equal(await showsFanout(), true);
  });

  test("the guidance fits clients' limit for instructions, in each language", async () => {
    for (const locale of LANGUAGES) {
      await set('workspace.locale', locale);
      for (const who of [{}, WORKER]) {
        const { length } = await instructions(who);
        assert.ok(length <= MOST_CHARACTERS, `${locale}: ${length}`);
      }
    }
    await set('workspace.locale', '');
  });

  test('the guidance is in the language of the workspace, and svc guidance show prints all of it', async () => {
    await set('workspace.locale', 'de-DE');
    assert.match(await instructions(), /\n- Kläre offene Fragen/);
    await set('workspace.locale', 'pt');
    const { stdout, stderr } = await ws.svc(['guidance', 'show', '--seat', 'worker']);
    assert.match(stdout, /^worker\tchair\.guidance\.workers_no_fanout\ton\tDo not start workers/);
    assert.doesNotMatch(stdout, /entry_chair/);
    assert.match(stderr, /workspace\.locale is pt: there are no texts in that language/);
    const { code, stderr: refused } = await ws.svc(['guidance', 'show', '--seat', 'king']);
    assert.notEqual(code, 0);
    assert.match(refused, /seat/);
    await set('workspace.locale', '');
  });
});
