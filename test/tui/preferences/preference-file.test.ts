import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { openPreferenceFile } from '../../../tui/preferences/preference-file.ts';
import { DEFAULT_PREFERENCES } from '../../../tui/preferences/preferences.ts';
import { temporaryFolder } from '../../support/workspaces/git.ts';

/** A machine home with this ui.yaml. */
function makeHome(t: TestContext, text?: string): { env: NodeJS.ProcessEnv; file: string } {
  const folder = temporaryFolder('svc-home-');
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'ui.yaml');
  if (text !== undefined) writeFileSync(file, text);
  return { env: { SVC_HOME: folder }, file };
}

const failIfTold = (message: string): never => assert.fail(message);

describe('ui.yaml', () => {
  it('the dashboard has its defaults without the file', async (t) => {
    const { preferences } = await openPreferenceFile(makeHome(t).env);
    assert.deepEqual(preferences, DEFAULT_PREFERENCES);
  });

  it('an empty file means the same', async (t) => {
    const { preferences } = await openPreferenceFile(makeHome(t, '# nothing yet\n').env);
    assert.deepEqual(preferences, DEFAULT_PREFERENCES);
  });

  it('the file sets theme, colours, keys, columns, sort order and switches', async (t) => {
    const text =
      'theme: colour-blind\ncolours: {bad: [bold, magenta]}\nkeys: {approve: [ctrl+y]}\ncolumns: {work: [id, title]}\nsort: {work: -tokens}\ntitle: true\n';
    const { preferences } = await openPreferenceFile(makeHome(t, text).env);
    assert.deepEqual(preferences, {
      ...DEFAULT_PREFERENCES,
      theme: 'colour-blind',
      colours: { bad: ['bold', 'magenta'] },
      keys: { approve: ['ctrl+y'] },
      columns: { work: ['id', 'title'] },
      sort: { work: '-tokens' },
      title: true,
    });
  });

  for (const [text, problem] of [
    ['bell: true\nthem: standard\n', /ui\.yaml:2:1 them: unknown key, did you mean theme\?/],
    ['theme: dusk\n', /ui\.yaml:1:8 theme: expected one of standard, dark, light, colour-blind/],
    ['keys:\n  approv: [y]\n', /ui\.yaml:2:3 keys\.approv: unknown key, did you mean approve\?/],
    ['keys:\n  approve: [y]\n', /ui\.yaml:2:\d+ keys\.approve: y is the second key/],
    ['keys:\n  approve: [d]\n', /ui\.yaml:2:\d+ keys\.approve: d is already the key of deny/],
    ['keys:\n  approve: [shift+a]\n', /ui\.yaml:2:\d+ keys\.approve\S*: expected a key/],
    ['columns:\n  work: [id, colour]\n', /ui\.yaml:2:\d+ columns\.work\S*: expected one of id, /],
    ['sort: {bus: tokens}\n', /ui\.yaml:1:\d+ sort\.bus: expected one of id, /],
    ['bell: [\n', /ui\.yaml:\d+:\d+/],
  ] as const)
    it(`an error names the problem and its place: ${JSON.stringify(text)}`, async (t) => {
      await assert.rejects(openPreferenceFile(makeHome(t, text).env), (error: unknown) => {
        assert.ok(error instanceof SvcError);
        assert.equal(error.code, 'config_invalid');
        assert.match(error.message, problem);
        return true;
      });
    });

  it('the file is written with its comments kept, and no other values than before', async (t) => {
    const { env, file } = makeHome(t, '# mine\ntheme: standard # the usual\nbell: true\n');
    const opened = await openPreferenceFile(env);
    opened.save([{ path: ['theme'], value: 'colour-blind' }], failIfTold);
    opened.save([{ path: ['sort', 'work'], value: '-tokens' }], failIfTold);
    await opened.close();
    const text = readFileSync(file, 'utf8');
    assert.match(text, /^# mine\ntheme: colour-blind # the usual\nbell: true\n/);
    const { preferences } = await openPreferenceFile(env);
    assert.deepEqual(
      [preferences.theme, preferences.bell, preferences.sort],
      ['colour-blind', true, { work: '-tokens' }],
    );
    const again = await openPreferenceFile(env);
    again.save([{ path: ['sort', 'work'], value: undefined }], failIfTold);
    await again.close();
    assert.deepEqual((await openPreferenceFile(env)).preferences.sort, {});
  });

  it('the file is created with the first choice', async (t) => {
    const { env, file } = makeHome(t);
    const opened = await openPreferenceFile(env);
    opened.save([{ path: ['columns', 'work'], value: ['id', 'title'] }], failIfTold);
    await opened.close();
    assert.match(readFileSync(file, 'utf8'), /columns:\n {2}work: *\n? *(?:\[|- )/);
  });

  it('a file that became invalid is left unchanged, with a message', async (t) => {
    const { env, file } = makeHome(t, 'bell: true\n');
    const opened = await openPreferenceFile(env);
    writeFileSync(file, 'bell: maybe\n');
    const told: string[] = [];
    opened.save([{ path: ['theme'], value: 'colour-blind' }], (message) => told.push(message));
    await opened.close();
    assert.equal(readFileSync(file, 'utf8'), 'bell: maybe\n');
    assert.match(told.join(), /ui\.yaml:1:7 bell/);
  });
});
