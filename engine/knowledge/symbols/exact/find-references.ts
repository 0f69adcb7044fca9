import type { ProjectCompiler, TsDeclaration, TsNode, TsProgram } from './compiler.ts';
import { createNodeNames, groupKinds, isIn, type NamedPlace } from './node-names.ts';

/** Kind, line from 1, the enclosing code (null for top level), and the target. */
export type FoundReference = readonly [
  kind: 'call' | 'new' | 'jsx' | 'inherit' | 'value',
  line: number,
  from: NamedPlace | null,
  to: readonly (readonly [file: string, end: number, name: string])[],
];

/** The references and imports of a file; all paths absolute. */
export interface FileReferences {
  path: string;
  references: FoundReference[];
  imports: string[];
}

interface Site {
  kind: FoundReference[0];
  /** The name of the target. */
  name: TsNode;
  /** The whole call. */
  call: TsNode;
}

/** Maximum reported declarations of one symbol. */
const MOST_DECLARATIONS = 8;

/** Resolves the names of files with the compiler. */
export function createReferenceFinder(
  { kinds }: Pick<ProjectCompiler, 'kinds'>,
  isOwn: (path: string) => boolean,
) {
  const is = groupKinds(kinds);
  const { nameNode, ownerOf } = createNodeNames(is);

  function unwrap(node: TsNode | undefined): TsNode | undefined {
    let at = node;
    while (isIn(at, is.wrapped)) at = at?.expression;
    return at;
  }

  const nameIn = (node: TsNode | undefined): TsNode | undefined =>
    isIn(node, is.member) ? node?.name : node;

  function siteAt(node: TsNode): Site | null {
    const made = (kind: Site['kind'], callee: TsNode | undefined): Site | null => {
      const target = unwrap(callee);
      const name = nameIn(target);
      return name === undefined || isIn(target, is.dynamic) ? null : { kind, name, call: node };
    };
    if (isIn(node, is.call)) return made('call', node.expression);
    if (isIn(node, is.make)) return made('new', node.expression);
    if (isIn(node, is.tagged)) return made('call', node.tag);
    if (isIn(node, is.decorator))
      return isIn(node.expression, is.call) ? null : made('call', node.expression);
    if (isIn(node, is.element)) {
      const site = made('jsx', node.tagName);
      return site === null || /^[a-z]/.test(node.tagName?.text ?? 'A') ? null : site;
    }
    if (isIn(node, is.base) && isIn(node.parent, is.heritage)) return made('inherit', node.expression);
    if (isIn(node, is.identifier) || isIn(node, is.member)) {
      const around = node.parent;
      if (!isIn(around, is.use) || around?.name === node || unwrap(around?.expression) === node) return null;
      return made('value', node);
    }
    return null;
  }

  function toTargets(declared: readonly TsDeclaration[]): FoundReference[3] {
    const found: [string, number, string][] = [];
    for (const each of declared) {
      if (found.length === MOST_DECLARATIONS) break;
      if (!isOwn(each.file)) continue;
      const place = nameNode(each.node());
      if (place !== null) found.push([each.file, ...place]);
    }
    return found;
  }

  return function readFile(program: TsProgram, path: string): FileReferences | null {
    const source = program.source(path);
    if (source === undefined) return null;
    const sites: Site[] = [];
    const modules: TsNode[] = [];
    const visit = (node: TsNode): void => {
      const site = siteAt(node);
      if (site !== null) sites.push(site);
      if (isIn(node, is.import) || isIn(node, is.call))
        program.visitChildren(node, (child) => void (isIn(child, is.text) && modules.push(child)));
      program.visitChildren(node, visit);
    };
    visit(source);
    const lineAt = createLineFinder(source.text ?? '');
    const symbols = program.symbolsOf(sites.map(({ name }) => name));
    const references = sites.flatMap(({ kind, name, call }, at): FoundReference[] => {
      const symbol = symbols[at];
      let to = symbol === undefined ? [] : toTargets(program.declarationsOf(symbol));
      const isCall = kind === 'call' || kind === 'new' || kind === 'jsx';
      if (to.length === 0 && isCall && isLocal(program, symbol)) {
        // A local value is called: use its declaration elsewhere.
        const behind = program.signatureOf(call);
        if (behind !== undefined) to = toTargets([behind]);
      }
      return to.length === 0 ? [] : [[kind, lineAt(name.end - (name.text?.length ?? 0)), ownerOf(call), to]];
    });
    const imported = new Set(
      program
        .symbolsOf(modules)
        .flatMap((symbol) => (symbol === undefined ? [] : program.declarationsOf(symbol)))
        .map(({ file }) => file)
        .filter((file) => file !== path && isOwn(file)),
    );
    return { path, references, imports: [...imported] };
  };

  /** Reports whether a name is local to this project's file, such as a parameter. */
  function isLocal(
    program: TsProgram,
    symbol: Parameters<TsProgram['declarationsOf']>[0] | undefined,
  ): boolean {
    const declared = symbol === undefined ? [] : program.declarationsOf(symbol);
    return declared.length > 0 && declared.every(({ file }) => isOwn(file));
  }
}

/** Returns the line of an offset, from 1. */
function createLineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length;
    while (low + 1 < high) {
      const middle = (low + high) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}
