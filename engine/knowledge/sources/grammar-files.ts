import type { SourceLanguage } from './languages.ts';

/** A grammar file next to the built programs. */
export interface GrammarFile {
  /** Its path below node_modules. */
  from: string;
  sha256: string;
  /** A text that it must parse without an error. */
  sample: string;
}

const FROM_COLLECTION = '@repomix/tree-sitter-wasms/out/tree-sitter-';

/** The pinned grammars: the build copies only these files, and they are verified at their first use. */
export const GRAMMAR_FILES: Readonly<Record<SourceLanguage, GrammarFile>> = {
  typescript: {
    from: `${FROM_COLLECTION}typescript.wasm`,
    sha256: '13677574a6375e1b12e98579850c55a4db5952ad8bacd673110007ac7cfd7e69',
    sample: 'export const a: number = f<string>(1);\n',
  },
  tsx: {
    from: `${FROM_COLLECTION}tsx.wasm`,
    sha256: '28fd7df7f2531af8deefa41c42b1f38a42b16141f8864d335439704eaf6cb465',
    sample: 'const a = <B c={1}>d</B>;\n',
  },
  javascript: {
    from: `${FROM_COLLECTION}javascript.wasm`,
    sha256: '06ad932f038e999733c8aae0b7ff0c8bd22953c10a681d39c69c77e6e707c90e',
    sample: 'class A { #b = 1; static { f(); } }\n',
  },
  python: {
    from: `${FROM_COLLECTION}python.wasm`,
    sha256: '36d25eee776af6293dc67bdf6f8f820af6a26bbc49e335cc4821dfd5a0dac685',
    sample: 'def f(a: int) -> str:\n    return g(a)\n',
  },
  go: {
    from: `${FROM_COLLECTION}go.wasm`,
    sha256: '7ca9e17e2b4fe236cb1d2386b0dfa897d7f13016cb88c1a5c8c1140719e5e514',
    sample: 'package a\n\nfunc (b *B) C() error { return nil }\n',
  },
  rust: {
    from: `${FROM_COLLECTION}rust.wasm`,
    sha256: 'a96b69c6fdf9d75b7df225af7e3544443cbd91c518dff3d7864bbef2463f57f0',
    sample: 'impl A for B { fn c(&self) -> u8 { 1 } }\n',
  },
  java: {
    from: `${FROM_COLLECTION}java.wasm`,
    sha256: '84e70408b5f5e693f77768930ee0f56dd1a21f40b4bd63b16c39d477fceea60c',
    sample: 'class A { int b() { return 1; } }\n',
  },
  c: {
    from: `${FROM_COLLECTION}c.wasm`,
    sha256: 'f0c308e7465d6af2e1de71426afbcb22ba33390227db950652808d248da03bf3',
    sample: 'int f(int a) { return g(a); }\n',
  },
  cpp: {
    from: `${FROM_COLLECTION}cpp.wasm`,
    sha256: '212ed7c04c7a6e25702edf3148c2e65a096193fd8154f77a1c1ad1b940216d08',
    sample: 'namespace a { class B { void c(); }; }\n',
  },
  csharp: {
    from: `${FROM_COLLECTION}c_sharp.wasm`,
    sha256: 'fbb5de1f3c277c9a60fffd8ae485e231babda452ca788d301952e41d4c1a5888',
    sample: 'namespace A { class B { int C() => 1; } }\n',
  },
  ruby: {
    from: `${FROM_COLLECTION}ruby.wasm`,
    sha256: 'b98cfd3724adf318f7ebfb979f167c3b7470cb143384b51ac1fd3f47f9ba4039',
    sample: 'class A\n  def b(c)\n    d(c)\n  end\nend\n',
  },
  php: {
    from: `${FROM_COLLECTION}php.wasm`,
    sha256: '3e95620047070f70ecb900fb003a8e60d61cb32e7f3433f856f1e9183f872b9e',
    sample: '<?php\nfunction f($a) { return g($a); }\n',
  },
  kotlin: {
    from: '@tree-sitter-grammars/tree-sitter-kotlin/tree-sitter-kotlin.wasm',
    sha256: '7009d69453bc8735e438b2818a633efb21c88f99782769abba60dffedfab73f7',
    sample: 'fun f(a: Int): Int = g(a)\n',
  },
  swift: {
    from: `${FROM_COLLECTION}swift.wasm`,
    sha256: 'd084eceba50e9a83319f5d171051b53179bd22b6ea6419014900c602d52cfa28',
    sample: 'func f(a: Int) -> Int { return g(a) }\n',
  },
  bash: {
    from: 'tree-sitter-bash/tree-sitter-bash.wasm',
    sha256: '8292919c88a0f7d3fb31d0cd0253ca5a9531bc1ede82b0537f2c63dd8abe6a7a',
    sample: 'f() { g "$1"; }\n',
  },
};
