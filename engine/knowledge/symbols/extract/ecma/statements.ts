import { OUTSIDE, UNKNOWN } from '../../facts.ts';
import type { NodeId } from '../nodes.ts';
import { createScope } from '../scope.ts';
import { findDeclaration } from './declare.ts';
import { TYPE_DECLARATION_READERS } from './type-declarations.ts';
import { readVariables } from './variables.ts';
import {
  isClassKind,
  isFunctionDeclaration,
  type StatementReader,
  type StatementReaders,
  type SyntaxWalk,
  type WalkState,
} from './walk.ts';

/** Reads statements: declares names before their uses are read, and collects symbols, imports and exports. */
export function createStatementReader(walk: SyntaxWalk): Pick<SyntaxWalk, 'readBlock' | 'readStatement'> {
  const { nodes, declared } = walk;

  function readStatement(node: NodeId, place: WalkState, isExported = false): void {
    const kind = nodes.kindOf(node);
    const read = READERS.get(kind);
    const symbol = declared.get(node);
    if (read !== undefined) read(walk, node, place, isExported);
    else if (isFunctionDeclaration(kind)) {
      if (symbol !== undefined) walk.readNamedFunction(node, symbol, { ...place, self: -1 });
    } else if (isClassKind(kind)) {
      if (symbol !== undefined) walk.readClass(node, symbol, { ...place, scope: createScope(place.scope) });
    } else if (/_statement$|_clause$|^switch_|^ERROR$|^program$/.test(kind)) {
      const children = nodes.childrenOf(node);
      for (const child of children) walk.declare(child, place);
      for (const child of children) readStatement(child, place);
    } else walk.readValue(node, place);
  }

  let depth = 0;
  function readBlock(statements: readonly NodeId[], place: WalkState): void {
    depth += 1;
    for (const statement of statements)
      if (nodes.kindOf(statement) === 'import_statement') readStatement(statement, place);
    for (const statement of statements) walk.declare(statement, place);
    for (const statement of statements)
      if (nodes.kindOf(statement) !== 'import_statement') readStatement(statement, place);
    depth -= 1;
    if (depth === 0) walk.exportLater();
  }

  return { readBlock, readStatement };
}

function readAmbient(walk: SyntaxWalk, node: NodeId, place: WalkState, isExported: boolean): void {
  const { nodes } = walk;
  const inner = findDeclaration(nodes, node);
  if (nodes.kindOf(inner) === 'statement_block') walk.readBlock(nodes.childrenOf(inner), place);
  else walk.readStatement(inner, place, isExported);
}

function readExpression(walk: SyntaxWalk, node: NodeId, place: WalkState): void {
  const { nodes } = walk;
  const inner = findDeclaration(nodes, node);
  if (nodes.kindOf(inner) === 'internal_module') walk.readStatement(inner, place);
  else if (!walk.readCommonJs(node, place))
    for (const child of nodes.childrenOf(node)) walk.readValue(child, place);
}

function readReturn(walk: SyntaxWalk, node: NodeId, place: WalkState): void {
  const { nodes } = walk;
  const value = nodes.childrenOf(node).find((each) => nodes.kindOf(each) !== 'comment');
  if (value !== undefined) place.returns.push(walk.readValue(value, place));
}

function readLoop(walk: SyntaxWalk, node: NodeId, place: WalkState): void {
  const { nodes } = walk;
  const inner = { ...place, scope: createScope(place.scope) };
  const right = walk.readValue(nodes.childIn(node, 'right'), place);
  const left = nodes.childIn(node, 'left');
  const isOf = /\bof\b/.test(
    nodes.text.slice(nodes.endOf(left), nodes.startOf(nodes.childIn(node, 'right'))),
  );
  walk.bindPattern(left, isOf ? ['w', ['e', right]] : OUTSIDE, inner);
  walk.readStatement(nodes.childIn(node, 'body'), inner);
}

function readInnerBlock(walk: SyntaxWalk, node: NodeId, place: WalkState): void {
  walk.readBlock(walk.nodes.childrenOf(node), { ...place, scope: createScope(place.scope) });
}

function readCatch(walk: SyntaxWalk, node: NodeId, place: WalkState): void {
  const { nodes } = walk;
  const inner = { ...place, scope: createScope(place.scope) };
  walk.bindPattern(nodes.childIn(node, 'parameter'), UNKNOWN, inner);
  walk.readStatement(nodes.childIn(node, 'body'), inner);
}

/** The readers of the statements that functions consist of: blocks, loops, results and expressions. */
const FLOW_READERS: StatementReaders = {
  ambient_declaration: readAmbient,
  expression_statement: readExpression,
  return_statement: readReturn,
  for_in_statement: readLoop,
  statement_block: readInnerBlock,
  switch_body: readInnerBlock,
  for_statement: readInnerBlock,
  catch_clause: readCatch,
};

const READERS: ReadonlyMap<string, StatementReader> = new Map(
  Object.entries<StatementReader>({
    ...TYPE_DECLARATION_READERS,
    ...FLOW_READERS,
    lexical_declaration: readVariables,
    variable_declaration: readVariables,
    import_statement: (walk, node, place) => walk.readImport(node, place),
    export_statement: (walk, node, place) => walk.readExport(node, place),
    comment: () => {},
  }),
);
