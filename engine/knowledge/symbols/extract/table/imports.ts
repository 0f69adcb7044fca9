import { posix } from 'node:path';
import type { SourceLanguage } from '../../../sources/index.ts';
import type { ExpressionFact, FileFacts } from '../../facts.ts';
import type { FactCollector } from '../collect.ts';
import type { NodeId, SyntaxNodes } from '../nodes.ts';
import { bindName, type NameScope } from '../scope.ts';

interface ImportWalk {
  nodes: SyntaxNodes;
  language: SourceLanguage;
  path: string;
  collector: FactCollector;
  scope: NameScope;
  facts: Pick<FileFacts, 'packageName'>;
}

/** Collects the imports of a file at any position, and the package that it declares. */
export function readImports(walk: ImportWalk): void {
  const { nodes, language, path, facts } = walk;
  if (language === 'go' || language === 'rust' || language === 'python')
    facts.packageName = posix.dirname(path);
  const visit = (node: NodeId): void => {
    for (const child of nodes.childrenOf(node)) {
      const read = READERS[`${language} ${nodes.kindOf(child)}`];
      if (read !== undefined) read(walk, child);
      if (read === undefined || nodes.kindOf(child) === 'namespace_declaration') visit(child);
    }
  };
  visit(0);
  // Files without one are in the default package.
  if (DEFAULTS.has(language)) facts.packageName ??= '';
}

const DEFAULTS: ReadonlySet<string> = new Set(['java', 'kotlin', 'csharp']);

function bind(
  { nodes, collector, scope }: ImportWalk,
  node: NodeId,
  from: string,
  name: string,
  local: string,
): void {
  const value: ExpressionFact = ['i', collector.addImport({ from, name, local, line: nodes.lineOf(node) })];
  if (local === '') return;
  bindName(scope, local, { value, type: ['r', value] });
}

type Reader = (walk: ImportWalk, node: NodeId) => void;

const readPackage: Reader = ({ nodes, facts }, node) => {
  facts.packageName ??= nodes.textOf(
    nodes.childIn(node, 'name') >= 0 ? nodes.childIn(node, 'name') : (nodes.childrenOf(node)[0] ?? -1),
  );
};

const readNamespace: Reader = ({ nodes, facts }, node) => {
  facts.packageName ??= nodes.textOf(nodes.childIn(node, 'name'));
};

/** Reads `import a.b.C`, of Java and Kotlin. */
const readDotted: Reader = (walk, node) => {
  const { nodes } = walk;
  const text = nodes
    .textOf(node)
    .replace(/^import\s+(?:static\s+)?/, '')
    .replace(/;\s*$/, '')
    .trim();
  const [, whole = '', alias] = /^([\w.*]+)(?:\s+as\s+(\w+))?/.exec(text) ?? [];
  const parts = whole.split('.');
  const name = parts.pop() ?? '';
  bind(walk, node, parts.join('.'), name, name === '*' ? '' : (alias ?? name));
};

const readUsing: Reader = (walk, node) => {
  const { nodes } = walk;
  const text = nodes
    .textOf(node)
    .replace(/^(?:global\s+)?using\s+(?:static\s+)?/, '')
    .replace(/;\s*$/, '');
  const [, alias, whole = ''] = /^(?:(\w+)\s*=\s*)?([\w.]+)/.exec(text) ?? [];
  if (alias === undefined) return bind(walk, node, whole, '*', '');
  const parts = whole.split('.');
  const name = parts.pop() ?? '';
  bind(walk, node, parts.join('.'), name, alias);
};

const readGo: Reader = (walk, node) => {
  const { nodes } = walk;
  const from = nodes.textOf(nodes.childIn(node, 'path')).replace(/^["`]|["`]$/g, '');
  const alias = nodes.textOf(nodes.childIn(node, 'name'));
  if (alias === '_') return;
  const parts = from.split('/');
  const last = /^v\d+$/.test(parts.at(-1) ?? '') ? parts.at(-2) : parts.at(-1);
  bind(walk, node, from, '*', alias === '.' ? '' : alias || (last ?? '').replace(/^go-|\.go$/g, ''));
};

const readPythonImport: Reader = (walk, node) => {
  const { nodes } = walk;
  for (const each of nodes.childrenIn(node, 'name')) {
    const alias = nodes.childIn(each, 'alias');
    const whole = nodes.textOf(alias >= 0 ? nodes.childIn(each, 'name') : each);
    // `import a.b` binds `a`, and `a.b` is reached through it.
    if (alias >= 0) bind(walk, node, whole, '*', nodes.textOf(alias));
    else bind(walk, node, whole.split('.')[0]!, '*', whole.split('.')[0]!);
  }
};

const readPythonFrom: Reader = (walk, node) => {
  const { nodes } = walk;
  const from = nodes.textOf(nodes.childIn(node, 'module_name'));
  if (nodes.childOfKind(node, 'wildcard_import') >= 0) return bind(walk, node, from, '*', '');
  for (const each of nodes.childrenIn(node, 'name')) {
    const alias = nodes.childIn(each, 'alias');
    const name = nodes.textOf(alias >= 0 ? nodes.childIn(each, 'name') : each);
    bind(walk, node, from, name, alias >= 0 ? nodes.textOf(alias) : name);
  }
};

/** Reads `use a::{b, c::d as e, f::*}`. */
const readUse: Reader = (walk, node) => {
  const { nodes } = walk;
  const spread = (at: NodeId, prefix: string): void => {
    const kind = nodes.kindOf(at);
    const joinPrefix = (text: string): string => (prefix === '' ? text : `${prefix}::${text}`);
    if (kind === 'scoped_use_list') {
      const path = nodes.childIn(at, 'path');
      spread(nodes.childIn(at, 'list'), path < 0 ? prefix : joinPrefix(nodes.textOf(path)));
    } else if (kind === 'use_list') for (const each of nodes.childrenOf(at)) spread(each, prefix);
    else if (kind === 'use_wildcard')
      bind(walk, node, joinPrefix(nodes.textOf(nodes.childrenOf(at)[0] ?? -1)), '*', '');
    else if (kind === 'use_as_clause')
      bindPath(joinPrefix(nodes.textOf(nodes.childIn(at, 'path'))), nodes.textOf(nodes.childIn(at, 'alias')));
    else if (kind === 'self') bindPath(prefix, null);
    else if (kind !== '') bindPath(joinPrefix(nodes.textOf(at)), null);
  };
  const bindPath = (path: string, alias: string | null): void => {
    const parts = path.replace(/\s+/g, '').split('::');
    const name = parts.pop()!;
    bind(walk, node, parts.join('::'), name, alias ?? name);
  };
  spread(nodes.childIn(node, 'argument'), '');
};

const READERS: Readonly<Record<string, Reader>> = {
  'java package_declaration': readPackage,
  'java import_declaration': readDotted,
  'kotlin package_header': (walk, node) => {
    walk.facts.packageName ??= walk.nodes
      .textOf(node)
      .replace(/^package\s+/, '')
      .trim();
  },
  'kotlin import': readDotted,
  'kotlin import_header': readDotted,
  'csharp namespace_declaration': readNamespace,
  'csharp file_scoped_namespace_declaration': readNamespace,
  'csharp using_directive': readUsing,
  'go import_spec': readGo,
  'python import_statement': readPythonImport,
  'python import_from_statement': readPythonFrom,
  'rust use_declaration': readUse,
};
