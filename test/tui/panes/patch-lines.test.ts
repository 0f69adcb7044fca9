import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadLanguages } from '../../../tui/diff/highlight.ts';
import { loadWordDiff } from '../../../tui/diff/words.ts';
import { type PatchView, renderPatch } from '../../../tui/panes/patch-lines.ts';
import { measureCells } from '../../../tui/text/cells.ts';
import { type StyledLine, toPlainText } from '../../../tui/text/theme.ts';

const PATCH = `diff --git a/src/old.ts b/src/new.ts
similarity index 90%
rename from src/old.ts
rename to src/new.ts
index 1111111..2222222 100644
--- a/src/old.ts
+++ b/src/new.ts
@@ -98,4 +98,5 @@ function total
 // The sum <of> "all" & more.
-  const sum = list.length;
+  const sum = list.length + 1;
+  const other = 'text';
   return sum;
 }
diff --git a/run.sh b/run.sh
new file mode 100755
index 0000000..3333333
--- /dev/null
+++ b/run.sh
@@ -0,0 +1 @@
+echo hi
diff --git a/logo.png b/logo.png
index 4444444..5555555 100644
Binary files a/logo.png and b/logo.png differ
diff --git a/sub b/sub
odd words about a file
`;

const textOf = (lines: readonly StyledLine[]): string[] => lines.map((line) => toPlainText(line));
const view = (cells: number, text = PATCH, cursor: number | null = null): PatchView =>
  renderPatch({ patch: { text, truncated: false } } as never, [], cursor, cells);
const colours = (line: StyledLine | undefined): Record<string, string | undefined> =>
  Object.fromEntries((line ?? []).map(({ text, style }) => [text.trim(), style]));

describe('a diff on the screen', () => {
  it('has line numbers, and one heading for the lines about each file', () => {
    assert.deepEqual(
      textOf(view(80).lines).map((line) => line.trimEnd()),
      [
        '    ── src/new.ts  renamed from src/old.ts',
        '    @@ -98,4 +98,5 @@ function total',
        ' 98  // The sum <of> "all" & more.',
        ' 99 -  const sum = list.length;',
        ' 99 +  const sum = list.length + 1;',
        "100 +  const other = 'text';",
        '101    return sum;',
        '102  }',
        '    ── run.sh  new, executable',
        '    @@ -0,0 +1 @@',
        '  1 +echo hi',
        '    ── logo.png  binary',
        '    ── sub',
        '    odd words about a file',
      ],
    );
  });

  it('has both sides next to each other where there is room', () => {
    const lines = textOf(view(160, PATCH, 3).lines).map((line) => line.replace(/ +/g, ' ').trimEnd());
    assert.deepEqual(lines.slice(2, 7), [
      ' 98 // The sum <of> "all" & more. │ 98 // The sum <of> "all" & more.',
      ' 99▶- const sum = list.length; │ 99 + const sum = list.length + 1;',
      " │ 100 + const other = 'text';",
      '100 return sum; │ 101 return sum;',
      '101 } │ 102 }',
    ]);
    const [added] = lines.filter((line) => line.includes('echo hi'));
    assert.equal(added, ' 1 +echo hi', 'a new file has one side');
    const wide = `${PATCH.slice(0, PATCH.indexOf(' // The'))}-${'界'.repeat(90)}\n+${'x'.repeat(200)}\n`;
    for (const line of view(160, wide).lines) assert.ok(measureCells(toPlainText(line)) <= 160);
  });

  it('colours code and changed words once their programs are loaded, and changes no character', async () => {
    const before = view(80);
    assert.equal(colours(before.colour(5))["'text';"], undefined);
    await loadLanguages(['src/new.ts', 'run.sh', 'none.xyz', 'logo.png']);
    await loadWordDiff();
    for (const cells of [80, 160]) {
      const { lines, colour } = view(cells);
      lines.forEach((line, at) => {
        assert.equal(toPlainText(colour(at) ?? line), toPlainText(line));
      });
    }
    const { colour } = view(80);
    assert.equal(colours(colour(2))['// The sum <of> "all" & more.'], 'comment');
    assert.equal(colours(colour(5)).const, 'keyword');
    assert.equal(colours(colour(5))["'text'"], 'string');
    assert.equal(colours(colour(4))['1'], 'added-word');
    assert.ok(Object.values(colours(colour(3))).includes('removed'));
  });

  it('scrolls the code sideways, on both sides of a change, and keeps numbers and signs', () => {
    const text = `${PATCH.slice(0, PATCH.indexOf(' // The'))}-${'a'.repeat(200)}old\n+${'a'.repeat(200)}new\n`;
    const shown = (cells: number, line: number, left: number): string =>
      toPlainText(view(cells, text).colour(line, left)!).replace(/ +/g, ' ').trimEnd();
    assert.doesNotMatch(shown(160, 2, 0), /old|new/);
    assert.match(shown(160, 2, 160), /^ 98 -a+old │ 98 \+a+new$/);
    assert.match(shown(80, 3, 160), /^ 98 \+a{40}new$/);
    assert.equal(shown(80, 3, 500), ' 98 +');
    assert.equal(shown(80, 0, 500), ' ── src/new.ts renamed from src/old.ts');
  });

  it('renders only the line of the cursor when that moves', () => {
    const work = { patch: { text: PATCH, truncated: false } } as never;
    const [before, after] = [3, 4].map((cursor) => renderPatch(work, [], cursor, 80).lines);
    const changed = before!.flatMap((line, at) => (line === after![at] ? [] : [at]));
    assert.deepEqual(changed, [3, 4]);
    assert.match(toPlainText(after![4]!), /▶/);
  });

  it('colours only a part of a long file at once, and leaves very long lines alone', async () => {
    await loadLanguages(['a.ts']);
    const head = 'diff --git a/a.ts b/a.ts\n--- /dev/null\n+++ b/a.ts\n@@ -0,0 +1,60000 @@\n';
    const long = view(100, head + '+const one = "two"; // three\n'.repeat(60_000));
    const before = process.cpuUsage();
    for (let at = 30_000; at < 30_050; at += 1) assert.equal(colours(long.colour(at)).const, 'keyword');
    // All of it takes several seconds of the processor.
    const { user } = process.cpuUsage(before);
    assert.ok(user < 1_000_000, `${user / 1000} ms`);
    const wide = view(100, `${head}+${'const a = 1;'.repeat(20_000)}\n`);
    assert.deepEqual(toPlainText(wide.colour(2)!), toPlainText(wide.lines[2]!));
  });
});
