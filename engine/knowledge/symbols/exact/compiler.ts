/** As much of a compiler's syntax tree as finding references takes; both interfaces of `typescript` have it. */
export interface TsNode {
  kind: number;
  /** Characters of the text; `end` is behind the last one. */
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

/** A symbol of the compiler, whatever it is. */
export type TsSymbol = { readonly flags: number };

/** A place that declares a symbol. */
export interface TsDeclaration {
  /** Absolute. */
  file: string;
  node(): TsNode | undefined;
}

/** Files that are compiled together. */
export interface TsProgram {
  /** Absolute paths of those that were asked for and are in it. */
  files: readonly string[];
  source(path: string): TsNode | undefined;
  visitChildren(node: TsNode, visit: (child: TsNode) => void): void;
  /** What names stand for, with imports followed to what they bring. */
  symbolsOf(names: readonly TsNode[]): (TsSymbol | undefined)[];
  declarationsOf(symbol: TsSymbol): readonly TsDeclaration[];
  /** What is called, as it was declared: for something that has no name of its own. */
  signatureOf(call: TsNode): TsDeclaration | undefined;
}

/** The project's own `typescript`, whichever of its interfaces it has. */
export interface Compiler {
  kinds: Readonly<Record<string, number>>;
  /** Compiles files, those with one configuration together and one group after another. */
  programs(files: readonly string[]): Iterable<TsProgram>;
  close(): void;
}
