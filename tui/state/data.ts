import type {
  Choices,
  Data,
  DecisionRow,
  DeliveryRow,
  EventRow,
  Notice,
  SessionRow,
  Status,
  TaskRow,
} from './model.ts';

export const EMPTY_DATA: Data = {
  tasks: new Map(),
  decisions: new Map(),
  sessions: new Map(),
  deliveries: new Map(),
  events: [],
  notices: [],
  status: null,
  choices: null,
  complete: false,
};

/** Rows that are new or have changed. */
export interface DataChange {
  tasks?: readonly TaskRow[];
  decisions?: readonly DecisionRow[];
  sessions?: readonly SessionRow[];
  /** All of them, newest first. */
  deliveries?: readonly DeliveryRow[];
  events?: readonly EventRow[];
  notices?: readonly Notice[];
  status?: Status;
  choices?: Choices;
  complete?: boolean;
  /** Everything before is of another workspace's life: the data folder was made anew. */
  reset?: boolean;
}

const EVENTS = 500;
const NOTICES = 200;

/** `arrived`: something new waits for a person. */
export function applyData(before: Data, change: DataChange): { data: Data; arrived: boolean } {
  const base = change.reset ? { ...EMPTY_DATA, choices: before.choices } : before;
  const data: Data = {
    tasks: merged(base.tasks, change.tasks, (row) => row.task_id),
    decisions: merged(base.decisions, change.decisions, (row) => row.decision_id),
    sessions: merged(base.sessions, change.sessions, (row) => row.session_id),
    deliveries:
      change.deliveries === undefined
        ? base.deliveries
        : new Map(change.deliveries.map((row) => [String(row.id), row])),
    events:
      change.events === undefined ? base.events : inOrder([...base.events, ...change.events]).slice(-EVENTS),
    notices:
      change.notices === undefined ? base.notices : [...base.notices, ...change.notices].slice(-NOTICES),
    status: change.status ?? base.status,
    choices: change.choices ?? base.choices,
    complete: change.complete ?? base.complete,
  };
  const arrived = (change.decisions ?? []).some(
    (row) => row.state === 'pending' && !base.decisions.has(row.decision_id),
  );
  return { data, arrived: arrived && !change.reset };
}

function merged<R>(
  before: ReadonlyMap<string, R>,
  rows: readonly R[] | undefined,
  idOf: (row: R) => string,
): ReadonlyMap<string, R> {
  if (rows === undefined || rows.length === 0) return before;
  const next = new Map(before);
  for (const row of rows) next.set(idOf(row), row);
  return next;
}

/** Each event once, by its number: a page of older ones and the stream may overlap. */
const inOrder = (events: readonly EventRow[]): EventRow[] =>
  [...new Map(events.map((event) => [event.seq, event])).values()].sort((one, other) => one.seq - other.seq);
