import type { ErrorCode } from './errors.ts';

// Separate from errors.ts, which every command and every hook loads.

/** The meaning of a code, of an error or a failed run. */
export interface ErrorMeaning {
  /** The event, as a clause. */
  means: string;
  /** The remedy, as a clause. */
  next: string;
}

/**
 * The second half of the table in errors.ts. Messages are more specific: they name the task, file or address, and
 * often the helpful command.
 */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, ErrorMeaning>> = {
  // invalid requests
  usage: {
    means: 'the command, its arguments or its options are invalid, or do not apply here',
    next: 'follow the hint, or read svc <command> --help',
  },
  body_invalid: {
    means:
      'the body of the request is empty, or does not have the form that the route expects, such as a JSON object',
    next: 'send the body that docs/automate/receiver.md describes for the route',
  },
  fields_invalid: {
    means: 'a field is missing, unknown, or has an invalid value',
    next: 'correct the fields named in data.fields or in the message',
  },
  unknown_template: {
    means: 'webhook.templates has no template of that name',
    next: 'correct the name, or add the template to svc.yaml',
  },
  unknown_agent: {
    means: 'agents.cmds has no such preset',
    next: 'add it, or assign another agent',
  },
  unknown_project: {
    means: 'choose one from svc project list, or add it to svc.yaml',
    next: 'pick one of svc project list, or add it to svc.yaml',
  },
  unsupported_encoding: {
    means: 'the request is compressed; the only accepted Content-Encoding is identity',
    next: 'send the body uncompressed',
  },
  body_too_large: {
    means: 'the request, message or line exceeds the limit',
    next: 'send less, or name a file instead of its content',
  },
  method_not_allowed: {
    means: 'the route does not accept this HTTP method',
    next: 'use a method named in the Allow header or the message',
  },
  config_invalid: {
    means: 'svc.yaml, a file of the machine home or an environment variable has an invalid value',
    next: 'correct the value that the message names; svc config check shows any other problem',
  },
  address_refused: {
    means: 'the address is reachable from other machines, or the system does not permit listening there',
    next: 'listen on 127.0.0.1 or [::1]; for the receiver --allow-remote permits more',
  },
  // identity and permissions of the caller
  signature_invalid: {
    means: 'the signature is missing, malformed or was not made with the secret of this receiver',
    next: 'sign the raw body with the secret of webhook.secret_env, as described in docs/automate/receiver.md',
  },
  timestamp_out_of_range: {
    means: "the timestamp header is missing, or too far from this machine's clock",
    next: 'set both clocks right, then sign and send it again',
  },
  token_invalid: {
    means: 'the bearer token is missing or wrong',
    next: 'send the token of .svc/daemon.json; it changes each time the engine starts',
  },
  host_refused: {
    means: 'the Host or Origin header does not name the address itself, as in a request from a web page',
    next: 'send the request to the address in .svc/daemon.json, and not from a browser page',
  },
  too_many_failures: {
    means: 'too many requests with a wrong signature came from this address',
    next: 'correct the secret of the sender, and send again after Retry-After',
  },
  revoked: {
    means: 'the linked server no longer accepts the token of this workspace or machine',
    next: 'link the workspace again with svc link; if the machine was revoked, run svc logout and svc login first',
  },
  remote_untrusted: {
    means: 'the author of the task is untrusted, so it cannot be approved from outside',
    next: 'read the prompt and approve it at the machine; it can be denied from anywhere',
  },
  chair_only: {
    means: 'only the Chair seat may do this, and the caller has another seat',
    next: 'have the Chair do it: a person at a terminal, or the agent of svc chair',
  },
  actor_denied: {
    means: 'the actor name of the caller is not in policy.actors, or is invalid',
    next: 'have a listed person do it, or add the name to policy.actors',
  },
  approval_required: {
    means: 'a person must approve this explicitly at a terminal',
    next: 'read the decision with svc decision show, and approve it at a terminal',
  },
  ledger_gate: {
    means: 'the ledger of the task is missing or unreadable, or has items that must be clarified first',
    next: 'settle those items in the ledger, or dispatch with --force',
  },
  lock_denied: {
    means: 'the caller holds no lock on the path that it wants to write',
    next: 'lock it first with svc lock acquire, or wait for the current holder',
  },
  holder_mismatch: {
    means: 'this belongs to another session',
    next: 'act as your own session, or leave it to the other session',
  },
  path_outside: {
    means: 'the path leads out of the required folder',
    next: 'use a path inside that folder that does not pass through a link',
  },
  unverified: {
    means: 'the work has no valid evidence, and guard.profile is strict',
    next: 'rerun its tests with svc verify rerun, or check svc verify show',
  },
  consent_missing: {
    means: 'no one on this machine has trusted the parts of svc.yaml or of the project setup that would run',
    next: 'review and trust them with svc trust or svc project trust',
  },
  trust_missing: {
    means: 'the person of the other machine has not agreed to the command that would run there',
    next: 'svc runner trust on that machine, with the digest that the failure names',
  },
  data_folder_unknown: {
    means:
      'the data folder was not created on this machine (it was moved, copied, restored or came with a repository), or by a development version',
    next: 'svc adopt takes it over if it is yours; svc adopt --fresh sets it aside',
  },
  owner_untrusted: {
    means: 'the file or folder belongs to another user, or others can change it',
    next: 'check its owner and mode, and correct them if you trust its content',
  },
  limit_reached: {
    means: 'the engine has reached its limit of connections or subscriptions',
    next: 'close clients that are not needed, and try again',
  },
  // missing things
  not_found: {
    means: 'nothing has this id or name, or the prefix matches several',
    next: 'find it in the list, such as svc task list',
  },
  expired: {
    means: 'it expired because it was not read for some time',
    next: 'run the command that produced it again',
  },
  not_linked: {
    means: 'the workspace is not linked to a server',
    next: 'svc login URL on this machine, then svc link in the workspace',
  },
  no_workspace: {
    means: 'there is no svc.yaml in this folder or above it',
    next: 'change to the workspace, or create one with svc init',
  },
  engine_not_running: {
    means: 'no engine is running for the workspace, and this call does not start one',
    next: 'start it with svc up',
  },
  // conflicts
  conflict: {
    means: 'its current state does not allow this, or another call came first',
    next: 'check its current state, and decide again',
  },
  inputs_changed: {
    means: 'the run would differ from what was approved: the configuration or the checkout has changed',
    next: 'review the decision that replaced it (svc decision list), and approve or deny it',
  },
  replayed: {
    means: 'a request with this signature was already accepted',
    next: 'sign again with a new timestamp; docs/automate/receiver.md describes how to repeat a request safely',
  },
  already_decided: {
    means: 'the decision was already approved, denied or replaced',
    next: 'nothing; svc decision show shows who decided',
  },
  displaced: {
    means: 'another engine uses the token of this workspace, and the linked server now talks to it',
    next: 'run one engine per workspace; link a copy of its folder again with svc link',
  },
  login_refused: {
    means: 'the linked server refused the login of this machine',
    next: 'start again with svc login, and enter the code before it expires',
  },
  already_running: {
    means: 'an engine already hosts this workspace, or the run was already started',
    next: 'use the running one, or stop it with svc down first',
  },
  idempotency_conflict: {
    means: 'the key of this request was already used for a different request',
    next: 'send a different request with its own key',
  },
  promote_conflict: {
    means: 'the branch does not merge into its base without conflicts; nothing was changed',
    next: 'let the session resolve them on its branch with svc worker resume, then promote again',
  },
  checkout_dirty: {
    means:
      'the checkout has uncommitted changes in files that would be replaced, or another git operation is in progress',
    next: 'commit or stash the changes, and try again',
  },
  worktree_unsafe: {
    means: 'a folder is not what svc created there, and changing it could lose work',
    next: 'inspect it by hand; use svc project repin if the repository was replaced on purpose',
  },
  address_in_use: {
    means: 'another program listens on this address',
    next: 'end it, or choose another port',
  },
  cancelled: {
    means: 'the caller disconnected, or a person stopped it',
    next: 'nothing, unless it was a mistake',
  },
  exists: {
    means: 'something else already exists there, and svc never overwrites it',
    next: 'move it away, or choose another name',
  },
  lock_held: {
    means: 'another session holds a lock on the path, on a folder above it, or on something below it',
    next: 'wait until it is released or expires, or write to its holder with svc msg send',
  },
  item_held: {
    means: 'another session has claimed this item of the ledger',
    next: 'claim another item, or wait until this one is released',
  },
  ask_closed: {
    means: 'the question was already answered, or no one waits for its answer any more',
    next: 'read its answer with svc ask show',
  },
  // local problems
  gateway_unroutable: {
    means:
      'agents.auth routes the model calls of the agent through the gateway, but its command cannot be routed',
    next: 'correct its command in agents.cmds; agents.auth account, or SVC_GATEWAY_BYPASS=1 for one dispatch, lets the agent use its own login',
  },
  gateway_unreachable: {
    means:
      'the model calls of the agent go through the gateway, which could not be started or does not answer',
    next: 'svc gateway serve shows why; agents.auth account, or SVC_GATEWAY_BYPASS=1 for one dispatch, lets the agent use its own login',
  },
  answer_invalid: {
    means: 'a model provider sent an answer that does not follow its protocol, or broke it off',
    next: 'try again; if it persists, check the provider with svc gateway status',
  },
  budget_exceeded: {
    means: 'the token or money budget is used up',
    next: 'raise the budget, or split the task',
  },
  not_a_repository: {
    means: 'the folder is not in a git repository',
    next: 'run git init, or use --inplace',
  },
  repository_empty: {
    means: 'the repository has no commit to start from',
    next: 'make a first commit',
  },
  git_failed: {
    means: 'a git command failed',
    next: 'correct the problem that the message names',
  },
  agent_not_found: {
    means: 'the program of the agent is not on the PATH of the engine',
    next: 'install it, or correct the command under agents.cmds',
  },
  program_failed: {
    means: 'a program of the person, such as git push or gh, failed; its own message follows',
    next: 'follow its message, and try again',
  },
  spawn_failed: {
    means: 'a process could not be started',
    next: 'correct the problem that the message names',
  },
  no_runner: {
    means: 'no machine has this name, or none is in this pool',
    next: 'svc runner list shows the machines and their pools',
  },
  runner_unsupported: {
    means: 'another machine cannot run workers for svc: its system, its processor, or what the project needs',
    next: 'do what the message says, or use another machine',
  },
  share_missing: {
    means: 'the project may not be sent to the machines of this pool',
    next: 'the Chair allows it: svc project share',
  },
  runner_unreachable: {
    means: 'the machine of a runner cannot be reached; its workers continue there',
    next: 'svc runner list shows why; the engine connects again by itself',
  },
  broker_unreachable: {
    means: 'the broker of the fleet does not answer; workers on other machines continue',
    next: 'svc runner list shows why; svc doctor looks at the broker',
  },
  join_invalid: {
    means: 'an invitation to a fleet is spent, older than an hour, or not complete',
    next: 'svc runner invite prints a new one',
  },
  bundle_refused: {
    means:
      'the commits that another machine sent are damaged, incomplete, too many, or not those of the session',
    next: 'look at the worktree there; svc has changed no branch',
  },
  remote_session: {
    means: 'the session is on another machine',
    next: 'do it there, or use its branch, which is here',
  },
  setup_failed: {
    means: 'a setup command of the project failed',
    next: 'read the log, and correct the command or what it needs',
  },
  secret_missing: {
    means: 'the environment variable for a secret is not set, or svc.yaml names none',
    next: 'set it where the engine starts or in keys.env of the machine home; then svc down, svc up',
  },
  storage_failed: {
    means: 'a file in the data folder, such as the database, cannot be read or written',
    next: 'correct the problem that the message names; everything acknowledged before is kept',
  },
  storage_full: {
    means: 'the disk is full; this was not saved',
    next: 'free some space, and try again; everything acknowledged before is kept',
  },
  storage_newer: {
    means: 'the database was written by a newer svc',
    next: 'use that version of svc or a newer one',
  },
  lease_required: {
    means:
      'SVC_REQUIRE_LEASE is set, and the workspace has no valid lease from a linked server; the run keeps waiting',
    next: 'svc entitlements shows why; link the workspace, or let it reach its server',
  },
  lease_invalid: {
    means:
      'a lease was not issued by the linked server for this workspace; an earlier valid lease stays in effect until it ends',
    next: 'link the workspace again if the server has a new key',
  },
  capability_locked: {
    means:
      "the account's plan or add-ons do not include this; anything that works without a server is never locked",
    next: 'the operator of the linked server enables it: svc server account',
  },
  quota_exceeded: {
    means: "the account's plan allows fewer of these; nothing was deleted or stopped",
    next: 'use fewer, or have another plan assigned: svc server account plan',
  },
  key_mismatch: {
    means: "the linked server's database was created with another root secret",
    next: 'start it with the original SVC_LEASE_SECRET or server.key; svc keeps no copy',
  },
  storage_unsafe: {
    means: 'a file or socket of svc is a link, or others can change it, so svc does not open it',
    next: 'inspect it by hand; svc doctor checks the data folder',
  },
  engine_unreachable: {
    means: 'an engine runs, or should run, but does not answer',
    next: 'try again; if it persists, run svc down and svc up, and read .svc/log',
  },
  engine_closing: {
    means: 'the engine is stopping',
    next: 'start it with svc up, and send the request again',
  },
  tool_missing: {
    means: 'a program that svc needs is missing: git, or bwrap with guard.profile strict',
    next: 'install it; svc doctor shows details',
  },
  confinement_unavailable: {
    means: 'guard.profile is strict, and no sandbox can be created here',
    next: 'svc doctor shows why; docs/operate/confinement.md explains the reasons',
  },
  protocol_mismatch: {
    means: 'the linked server and this machine speak different protocols: one of them is older',
    next: 'update the side that the message names',
  },
  server_unreachable: {
    means: 'the linked server does not answer, or its answer is invalid',
    next: 'check its address and that it is running; work continues without it',
  },
  internal: {
    means: 'an internal error of svc',
    next: 'read the log of the engine in .svc/log; with DEBUG=1 a command shows where it failed',
  },
};
