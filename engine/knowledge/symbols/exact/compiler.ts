/** The part of a compiler's syntax tree that finding references needs; both interfaces of `typescript` have it. */
export interface TsNode {
  kind: number;
  /** Characters of the text; `end` is exclusive. */
  pos: number;
  end: number;
  parent?: TsNode;
  text?: string;
  name?: TsNode;
  expression?: TsNode;
  initializer?: TsNode;
  tag?: TsNode;
  tagName?: TsNode;
  /** Of a heritage clause. */
  token?: number;
}

/** A symbol of the compiler. */
export type TsSymbol = { readonly flags: number };

/** A declaration of a symbol. */
export interface TsDeclaration {
  /** Absolute. */
  file: string;
  node(): TsNode | undefined;
}

/** Files that are compiled together. */
export interface TsProgram {
  /** Absolute paths of the requested files in it. */
  files: readonly string[];
  source(path: string): TsNode | undefined;
  visitChildren(node: TsNode, visit: (child: TsNode) => void): void;
  /** Resolves names, following imports to their targets. */
  symbolsOf(names: readonly TsNode[]): (TsSymbol | undefined)[];
  declarationsOf(symbol: TsSymbol): readonly TsDeclaration[];
  /** Returns the declaration of a called value that has no name. */
  signatureOf(call: TsNode): TsDeclaration | undefined;
}

/** The project's own `typescript`, with either of its interfaces. */
export interface ProjectCompiler {
  kinds: Readonly<Record<string, number>>;
  /** Compiles files, grouped by configuration, one group after another. */
  programs(files: readonly string[]): Iterable<TsProgram>;
  close(): void;
}
