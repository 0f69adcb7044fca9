import { isJsonObject } from '../../../core/base/json-object.ts';
import { makeId } from '../answer-ids.ts';
import type { BlockSink } from '../conversation.ts';
import { asFields, asText, numberOrNull, parseJson, type RequestFields, textOrNull } from '../fields.ts';

/** A call that a stream sends in pieces. */
interface OpenCall {
  /** Null until the call is emitted: its name is only complete when its arguments start. */
  key: string | null;
  id: string | null;
  name: string;
  text: string;
  isCustom: boolean;
  isClosed: boolean;
}

/** Assembles the calls of a stream. */
export interface CallPieces {
  read(piece: RequestFields): void;
  /** Emits all calls so far, and closes those with complete arguments; pieces of the others may still arrive. */
  settle(): void;
  /** Reports whether the stream may end here without an end marker: the arguments of every call are complete. */
  areWhole(): boolean;
  /** Reports whether there are arguments of a call that never got a name. */
  areNameless(): boolean;
}

const isBlankText = (text: string): boolean => text.trim() === '';
const isWhole = ({ text }: OpenCall): boolean => !isBlankText(text) && parseJson(text) !== undefined;

/** Reports whether a call has no arguments yet: some servers start every call with empty arguments and send the real ones later. */
const isUnsaid = ({ text }: OpenCall): boolean => isBlankText(text) || text === '{}';

/**
 * Creates a reader for the pieces of calls. Servers number calls by an index, by an id, or not at all; they repeat
 * names or split them.
 * @param isTool - reports whether the request had a tool of that name
 * @param onCall - runs when a call starts
 * @param beforeCall - runs before it is emitted
 */
export function createCallPieces(
  sink: Pick<BlockSink, 'open' | 'append' | 'close'>,
  {
    nextKey,
    isTool,
    onCall,
    beforeCall,
  }: { nextKey(): string; isTool(name: string): boolean; onCall(): void; beforeCall(): void },
): CallPieces {
  const calls: OpenCall[] = [];
  /** The last call at each index. */
  const atIndex = new Map<number, OpenCall>();

  function findOpenCall(index: number | null, id: string | null, name: string): OpenCall | undefined {
    if (index !== null) return atIndex.get(index);
    const known = id === null ? undefined : calls.findLast((each) => each.id === id);
    return known ?? (id === null || name === '' ? calls.at(-1) : undefined);
  }

  /** Reports whether a piece in the position of a call starts another call. */
  function beginsOther(call: OpenCall, id: string | null, name: string, text: string): boolean {
    if (name === '') return false;
    if (id !== null && call.id !== null && id !== call.id) return true;
    if (isWhole(call)) {
      const goesOn = call.text === '{}' && id !== null && id === call.id;
      return !goesOn && (name !== call.name || !isBlankText(text));
    }
    if (!isBlankText(call.text) || call.key !== null) return false;
    // Two names in a row: a call without arguments followed by the next one, or two halves of one name.
    return name !== call.name && isTool(call.name) && isTool(name) && !isTool(`${call.name}${name}`);
  }

  function addName(call: OpenCall, name: string): void {
    if (call.key !== null || name === '') return;
    const joined = `${call.name}${name}`;
    const isRepeated = name === call.name || isTool(call.name);
    call.name = isRepeated && !isTool(joined) ? call.name : joined;
  }

  function emitCall(call: OpenCall): void {
    // Earlier calls have complete names by now.
    for (const each of calls.slice(0, calls.indexOf(call) + 1)) {
      if (each.key !== null || each.name === '') continue;
      beforeCall();
      closeWhole();
      each.key = nextKey();
      sink.open(each.key, {
        kind: 'call',
        id: each.id ?? makeId('call_'),
        name: each.name,
        namespace: null,
        takesText: each.isCustom,
      });
      sink.append(each.key, each.text);
    }
  }

  function closeWhole(): void {
    for (const call of calls) {
      if (call.key === null || call.isClosed || !isWhole(call)) continue;
      call.isClosed = true;
      sink.close(call.key);
    }
  }

  function appendArguments(call: OpenCall, text: string): void {
    if (text === '' || call.isClosed) return;
    // Some servers repeat all arguments at the end.
    if (text === call.text && isWhole(call)) return;
    if (call.key === null) {
      call.text = isUnsaid(call) && !isBlankText(text) ? text : `${call.text}${text}`;
      if (!isUnsaid(call) && call.name !== '') emitCall(call);
      return;
    }
    call.text += text;
    sink.append(call.key, text);
  }

  return {
    read(piece) {
      const custom = isJsonObject(piece.custom) ? piece.custom : null;
      const told = asFields(piece.function ?? custom);
      const name = asText(told.name);
      const given = custom === null ? told.arguments : custom.input;
      const text = isJsonObject(given) ? JSON.stringify(given) : asText(given);
      const id = textOrNull(piece.id);
      const index = numberOrNull(piece.index);
      let call = findOpenCall(index, id, name);
      if (call === undefined || beginsOther(call, id, name, text)) {
        if (name === '' && text === '') return;
        onCall();
        call = { key: null, id, name, text: '', isCustom: custom !== null, isClosed: false };
        calls.push(call);
        if (index !== null) atIndex.set(index, call);
      } else addName(call, name);
      call.id ??= id;
      appendArguments(call, text);
    },
    settle() {
      const last = calls.at(-1);
      if (last !== undefined) emitCall(last);
      closeWhole();
    },
    areWhole: () => calls.every((call) => call.isCustom || isWhole(call)),
    areNameless: () => calls.some(({ name, text }) => name === '' && !isBlankText(text)),
  };
}
