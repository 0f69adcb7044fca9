import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readTokens } from '../../../../engine/knowledge/guard/code/lex.ts';
import { findSyntax } from '../../../../engine/knowledge/guard/code/syntaxes.ts';
import type { SourceLanguage } from '../../../../engine/knowledge/sources/index.ts';

/** Reads a text and a last line `after it all`: returns the tokens of that line, and where the lexer was lost. */
function readAfter(language: SourceLanguage, text: string): { last: string[]; lostAt: number | null } {
  const whole = `${text}\nafter(it, all)\n`;
  const { count, starts, ends, lines, lostAt } = readTokens(whole, findSyntax(language));
  const lastLine = whole.split('\n').length - 1;
  const last = Array.from({ length: count }, (_, at) => at)
    .filter((at) => lines[at] === lastLine)
    .map((at) => whole.slice(starts[at], ends[at]));
  return { last, lostAt };
}

const ALL = ['after', '(', 'it', ',', 'all', ')'];

/** Literals whose end is easily missed, by language. */
const TRICKY: Partial<Record<SourceLanguage, readonly string[]>> = {
  bash: [
    String.raw`echo don\'t`,
    String.raw`printf '%s\n' 'a\'`,
    String.raw`x=$'it\'s'`,
    `cat <<EOF\nit isn't closed\nEOF`,
    `cat <<-'END'\n\tit isn't closed\n\tEND`,
    `cat <<A <<"B" | sort\ndon't\nA\nwon't\nB`,
    `echo "$(echo "it's" 'a "b')"`,
    `echo "\${x:-don't}"`,
    `echo "$(ls # don't\n)"`,
    `if true; then :;# don't\nfi`,
    `y=$((1<<BITS))`,
    'echo "`echo "it\'s"`"',
    `grep "'" <<< "don't"`,
  ],
  ruby: [
    `x = <<~TEXT\n  it isn't closed\n  TEXT`,
    `call(<<-'A', <<~B)\n  don't\n  A\n  won't\n  B`,
    `y = "it's #{h["don't"]} \`"`,
    `list << "don't"`,
    `match(line, /it's/) if x =~ /"/`,
  ],
  php: [
    `<?php\n$x = <<<EOT\nit isn't closed\n  EOT;`,
    `<p>Don't</p>\n<?php if ($x): ?>\n<p>Won't</p>\n<?php endif;`,
  ],
  javascript: [
    "x = `a @{b ? `it's` : ''} c`",
    'x = `a @{b ? "`" : \'}\'} c`',
    "x = `@{`@{`'`}`}`",
    "x = `\\@{ it's`",
  ].map((text) => text.replaceAll('@', '$')),
  go: ['x := `\\`', "x := `it's`"],
};

describe('the end of a literal', () => {
  for (const [language, texts] of Object.entries(TRICKY))
    test(`the code after a literal of ${language} is read, whatever the literal contains`, () => {
      for (const text of texts)
        assert.deepEqual(readAfter(language as SourceLanguage, text), { last: ALL, lostAt: null }, text);
    });

  test('a shift of bits is not a heredoc, even if a later line looks like its end', () => {
    const text = '(( x = 1 << EOF ))\ngit commit\nEOF\n';
    const { count, starts, ends } = readTokens(text, findSyntax('bash'));
    const words = Array.from({ length: count }, (_, at) => text.slice(starts[at], ends[at]));
    assert.deepEqual(words.slice(-3), ['git', 'commit', 'EOF']);
  });

  test('a literal or comment without an end is reported with its line, and the lines after it are read', () => {
    for (const [language, text] of [
      ['bash', 'echo 1\necho "open'],
      ['bash', "echo 1\necho 'open"],
      ['javascript', 'let a;\nlet b = `open'],
      ['go', 'package a\nvar b = `open'],
    ] as const)
      assert.deepEqual(readAfter(language, text), { last: ALL, lostAt: 2 }, text);
    for (const [language, text] of [
      ['c', 'int a;\n/* open'],
      ['python', 'a = 1\nb = """open'],
      ['rust', 'a;\nr#"open"'],
    ] as const)
      assert.equal(readAfter(language, text).lostAt, 2, text);
  });

  test('literals without an end are read in bounded time', () => {
    for (const part of ['"$(', '"${', '`${', '"#{', '<<A ', '<<A\n', "'", '`', '"$(`', '"$(\'', '$(( <<B\n'])
      for (const language of ['bash', 'ruby', 'php', 'javascript', 'go'] as const) {
        readTokens(part.repeat(200_000 / part.length), findSyntax(language));
        readTokens(`${part}${'x '.repeat(50)}\n`.repeat(2000), findSyntax(language));
      }
  });
});
