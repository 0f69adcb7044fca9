/** A model's thoughts in the fields that chat servers use, and how they are returned to them. */
import { asFieldsList, asText, type RequestFields, textOrNull } from '../fields.ts';
import { sealReasoning } from '../reasoning.ts';

/** The fields in which servers put thoughts; the first existing one is used. */
const THOUGHT_FIELDS = ['reasoning_content', 'reasoning'] as const;

/** The field in which routers keep the records of the models behind them: texts, summaries, and signed or encrypted data. */
const DETAILS_FIELD = 'reasoning_details';

export interface ThoughtText {
  /** The field that the text was in; null if it is only in the details. */
  field: string | null;
  text: string;
  details: readonly RequestFields[];
}

/** Reads the thoughts in a message or a piece of one; null for none. */
export function readThought(message: RequestFields): ThoughtText | null {
  const given = message[DETAILS_FIELD];
  const details = given === undefined ? [] : asFieldsList(given);
  for (const field of THOUGHT_FIELDS) {
    const text = textOrNull(message[field]);
    if (text !== null) return { field, text, details };
  }
  if (details.length === 0) return null;
  const text = details.map((detail) => asText(detail.text) || asText(detail.summary)).join('');
  return { field: null, text, details };
}

const isContinued = (last: RequestFields | undefined, next: RequestFields): last is RequestFields =>
  last !== undefined &&
  last.type === next.type &&
  last.index === next.index &&
  (last.id ?? next.id) === (next.id ?? last.id) &&
  typeof next.data !== 'string';

/** Merges the details of one stream piece with the previous ones: a continued text is one text. */
export function joinDetails(
  before: readonly RequestFields[],
  pieces: readonly RequestFields[],
): readonly RequestFields[] {
  const joined = [...before];
  for (const piece of pieces) {
    const last = joined.at(-1);
    if (!isContinued(last, piece)) {
      joined.push(piece);
      continue;
    }
    const next: Record<string, unknown> = { ...last };
    for (const [name, value] of Object.entries(piece)) {
      if ((name === 'text' || name === 'summary') && typeof last[name] === 'string')
        next[name] = `${last[name]}${asText(value)}`;
      else if (value !== null) next[name] = value;
    }
    joined[joined.length - 1] = next;
  }
  return joined;
}

/** Returns the sealed record of a thought. */
export const sealThought = (model: string, { field, text, details }: ThoughtText): string =>
  sealReasoning('chat', model, {
    ...(field === null ? {} : { field, text }),
    ...(details.length === 0 ? {} : { details }),
  });

/** Returns the message fields that restore the thoughts in these records. */
export function writeThoughts(records: readonly RequestFields[]): Record<string, unknown> {
  const field = asText(records.find((record) => 'field' in record)?.field);
  const details = records.flatMap((record) => asFieldsList(record.details));
  return {
    ...(field === '' ? {} : { [field]: records.map(({ text }) => asText(text)).join('') }),
    ...(details.length === 0 ? {} : { [DETAILS_FIELD]: details }),
  };
}
