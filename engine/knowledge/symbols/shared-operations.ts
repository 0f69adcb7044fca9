import { z } from 'zod';
import { tool } from '../../core/api/tool.ts';
import { SvcError } from '../../core/base/errors.ts';
import { formatCount, toPrintable } from '../../core/base/text.ts';
import { findGraphPlace } from './explore-operations.ts';
import {
  exactField,
  listField,
  quietField,
  sayWith,
  sessionField,
  stateFields,
  symbolField,
} from './graph-fields.ts';
import type { Graph } from './index.ts';
import { type createSharedCode, NOTHING_SHARED } from './shared-code.ts';
import { describeGraphState, pickAnswer, toWireSymbol, type WireSymbol } from './wire.ts';

type SharedCode = ReturnType<typeof createSharedCode>;

/** Creates the tool that shows the text of one symbol. */
export function snippetTool(graph: Graph, { readProject, nameShared }: SharedCode) {
  return tool({
    name: 'code.snippet',
    about: 'The text of one symbol, without reading its file.',
    seat: 'any',
    changes: false,
    input: z.strictObject({
      id: z.int().min(1).optional().describe('Its id.'),
      symbol: symbolField.optional(),
      max_lines: z.int().min(1).max(2000).default(120).describe('Lines of text.'),
      project: z.string().min(1).max(200).optional().describe('Another project; shared code only.'),
      session: sessionField,
    }),
    output: z.object({
      ...stateFields,
      path: z.string().nullable(),
      line: z.int().nullable(),
      text: z.string(),
      more: z.int(),
      id: quietField,
      end_line: quietField,
    }),
    say: sayWith(({ path, line, text, more }) =>
      path === null
        ? []
        : [
            `${toPrintable(path)}:${line}`,
            toPrintable(text, { lines: true }),
            ...(more > 0 ? [`and ${formatCount(more, 'more line')}`] : []),
          ],
    ),
    async run(input, caller) {
      const wanted = input.id === undefined ? input.symbol : String(input.id);
      if (wanted === undefined) throw new SvcError('fields_invalid', 'name a symbol or an id');
      const other = input.project === undefined ? caller.project : readProject(input.project, caller);
      const isOwn = other === caller.project;
      const place = isOwn ? findGraphPlace(caller, input.session) : { project: other };
      const named = isOwn ? wanted : await nameShared(wanted, other, input.project!);
      const asked =
        typeof named === 'string'
          ? await graph.ask(place, { ask: 'snippet', symbol: named, maxLines: input.max_lines })
          : named;
      const found = pickAnswer(asked, 'snippet');
      if (found === null)
        return {
          ...describeGraphState(asked),
          id: null,
          path: null,
          line: null,
          end_line: null,
          text: '',
          more: 0,
        };
      const { text, firstLine, lastLine, more } = found.snippet;
      return {
        ...describeGraphState(asked),
        id: found.symbol.id,
        path: found.symbol.path,
        line: firstLine,
        end_line: lastLine,
        text,
        more,
      };
    },
  });
}

/** Creates the tool that describes a shared symbol. */
export function inspectTool(graph: Graph, { listReadable }: SharedCode) {
  return tool({
    name: 'inspect.symbol',
    about: 'A symbol, shared or of the own project: signature, comment, location, number of uses.',
    seat: 'any',
    changes: false,
    input: z.strictObject({ name: symbolField }),
    output: z.object({ ...stateFields, symbol: z.unknown(), references: z.unknown(), exact: exactField }),
    say: sayWith(({ symbol: found, references }) => {
      if (found === null) return [];
      const { id, kind, name, path, line, signature, doc } = found as WireSymbol;
      const uses = Object.entries(references as Record<string, number>).map(([each, n]) => `${n} ${each}`);
      return [
        `#${id} ${kind} ${toPrintable(name)} ${toPrintable(path)}:${line}`,
        toPrintable(signature),
        ...(doc === undefined ? [] : [toPrintable(doc)]),
        uses.length === 0 ? 'not referenced' : `referenced by ${uses.join(', ')}`,
      ];
    }),
    async run(input, caller) {
      for (const project of new Set(listReadable(caller))) {
        const shared = graph.sharedPaths(project);
        if (shared.length === 0) continue;
        const asked = await graph.ask({ project }, { ask: 'inspect', symbol: input.name, only: [...shared] });
        const found = pickAnswer(asked, 'references');
        if (found !== null)
          return {
            ...describeGraphState(asked),
            symbol: toWireSymbol(found.symbol, project),
            references: found.references,
            exact: asked.exact,
          };
      }
      const own = await graph.ask(findGraphPlace(caller, undefined), {
        ask: 'inspect',
        symbol: input.name,
        only: null,
      });
      const found = pickAnswer(own, 'references');
      return {
        ...describeGraphState(own),
        symbol: found === null ? null : toWireSymbol(found.symbol, caller.project),
        references: found?.references ?? {},
        exact: own.exact,
      };
    },
  });
}

/** Creates the tool that finds shared symbols. */
export function searchSharedTool(graph: Graph, { listReadable, readProject, findShared }: SharedCode) {
  return tool({
    name: 'search.shared_symbols',
    about:
      'Find code to use instead of writing it, by a part of its name: symbols of shared paths in all projects, then those of the own project.',
    seat: 'any',
    changes: false,
    input: z.strictObject({
      query: z.string().min(1).max(200).describe('Part of a name.'),
      limit: z.int().min(1).max(100).default(20),
      project: z.string().min(1).max(200).optional().describe('Only this project.'),
    }),
    output: z.object({ ...stateFields, symbols: listField }),
    say: sayWith(({ symbols }) =>
      (symbols as WireSymbol[]).map(
        (each) =>
          `${each.project == null ? '' : `${each.project} `}#${each.id} ${each.kind} ${toPrintable(each.name)} ${toPrintable(each.path)}:${each.line} ${toPrintable(each.signature)}`,
      ),
    ),
    async run(input, caller) {
      const readable = [...new Set(listReadable(caller))];
      const among = input.project === undefined ? readable : [readProject(input.project, caller)];
      const isOwn = among.includes(caller.project);
      const own = isOwn ? findGraphPlace(caller, undefined) : null;
      const { found, notes } = await findShared(input.query, input.limit, among, own);
      const isShared = isOwn || readable.some((project) => graph.sharedPaths(project).length > 0);
      const why = isShared ? 'no symbol has this name' : NOTHING_SHARED;
      const empty = found.length > 0 ? null : isShared ? 'not_found' : 'not_indexed';
      return {
        empty,
        note: [...(empty === null ? [] : [why]), ...notes].join('; ') || null,
        candidates: [],
        symbols: found,
      };
    },
  });
}
