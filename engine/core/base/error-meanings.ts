import type { ErrorCode } from './errors.ts';

// Apart from errors.ts, which every command and every hook loads.

/** What a code says: of an error, and of a run that failed. */
export interface Meaning {
  /** What happened, a clause. */
  means: string;
  /** What to do next, a clause. */
  next: string;
}

/** The second half of the table in errors.ts. A message says more: which task, file or address, and often which command helps. */
export const ERROR_MEANINGS: Readonly<Record<ErrorCode, Meaning>> = {
  // what the caller sent
  usage: {
    means: 'the command, its arguments or its options cannot be understood, or do not apply here',
    next: 'follow the hint, or read svc <command> --help',
  },
  body_invalid: {
    means: 'the body of the request is empty or is not what the route reads, such as a JSON object',
    next: 'send the body that docs/receiver.md has for the route',
  },
  fields_invalid: {
    means: 'a field is missing, unknown, or has a value that it cannot have',
    next: 'correct the fields that data.fields or the message names',
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
    means: 'projects in svc.yaml has no project of that name',
    next: 'pick one of svc project list, or add it to svc.yaml',
  },
  unsupported_encoding: {
    means: 'the request is compressed; a Content-Encoding other than identity is not accepted',
    next: 'send the body as it is',
  },
  body_too_large: {
    means: 'the request, the message or the line is longer than the limit',
    next: 'send less, or name a file in place of its content',
  },
  method_not_allowed: {
    means: 'the route answers other HTTP methods than this one',
    next: 'use a method that the Allow header or the message names',
  },
  config_invalid: {
    means: 'svc.yaml, a file of the machine home or an environment variable has a value that cannot be used',
    next: 'correct what the message names; svc config check tells whether that was all',
  },
  address_refused: {
    means: 'the address can be reached from other machines, or the system does not permit listening there',
    next: 'listen on 127.0.0.1 or [::1]; for the receiver --allow-remote permits more',
  },
  // who the caller is
  signature_invalid: {
    means: 'the signature is missing, malformed or was not made with the secret of this receiver',
    next: 'sign the raw body with the secret of webhook.secret_env; docs/receiver.md says how',
  },
  timestamp_out_of_range: {
    means: 'the timestamp header is missing, or too far from the clock of this machine',
    next: 'set both clocks right, sign anew and send it again',
  },
  token_invalid: {
    means: 'the bearer token is missing or wrong',
    next: 'send the token of .svc/daemon.json; it changes whenever the engine starts',
  },
  host_refused: {
    means:
      'the Host or Origin header names another place than the address itself, as that of a web page does',
    next: 'send the request to the address of .svc/daemon.json, and from no page of a browser',
  },
  too_many_failures: {
    means: 'too many requests with a wrong signature came from this address',
    next: 'correct the secret of the sender, and send again after Retry-After',
  },
  revoked: {
    means: 'the linked server no longer takes the token of this workspace or machine',
    next: 'svc link links the workspace anew; where the machine was revoked, svc logout and svc login first',
  },
  remote_untrusted: {
    means: 'nobody vouches for the author of the task, so it cannot be approved from outside',
    next: 'read the prompt and approve it at the machine; denying works from anywhere',
  },
  chair_only: {
    means: 'only the Chair seat may do this, and the caller has another seat',
    next: 'have the Chair do it: a person at a terminal, or the agent of svc chair',
  },
  actor_denied: {
    means: 'the name under which the caller acts is not in policy.actors, or cannot be a name',
    next: 'have a listed person do it, or add the name to policy.actors',
  },
  approval_required: {
    means: 'a person has to approve this at a terminal, in so many words',
    next: 'look at the decision with svc decision show, and approve it at a terminal',
  },
  ledger_gate: {
    means: 'the ledger of the task is missing, unreadable, or has items that must be clarified first',
    next: 'settle those items in the ledger, or dispatch with --force',
  },
  lock_denied: {
    means: 'the path is to be written by somebody who holds no lock on it',
    next: 'lock it first with svc lock acquire, or wait for whoever holds it',
  },
  holder_mismatch: {
    means: 'this belongs to another session than that of the caller',
    next: 'act in your own name, or leave it to that session',
  },
  path_outside: {
    means: 'the path leads out of the folder that it has to be in',
    next: 'name a path inside that folder, and not through a link',
  },
  unverified: {
    means: 'the work has no evidence that holds, and guard.profile is strict',
    next: 'run its tests again with svc verify rerun, or look at svc verify show',
  },
  consent_missing: {
    means: 'nobody on this machine has agreed to what svc.yaml or the setup of a project would have run',
    next: 'read it with svc trust or svc project trust, and agree',
  },
  data_folder_unknown: {
    means:
      'this machine has not made the data folder: it was moved, copied, restored or brought by a repository',
    next: 'svc adopt takes it over when it is yours, svc adopt --fresh sets it aside',
  },
  owner_untrusted: {
    means: 'the file or folder belongs to another user, or others can change it',
    next: 'look at its owner and mode, and correct them when you trust its content',
  },
  limit_reached: {
    means: 'the engine serves as many connections or subscriptions as it may',
    next: 'end clients that are not needed, and try again',
  },
  // what is not there
  not_found: {
    means: 'nothing has this id or name, or its beginning fits several',
    next: 'look it up in the list, such as svc task list',
  },
  expired: {
    means: 'it was there, and was given up after nobody had read it for some time',
    next: 'run the command again that gave it',
  },
  not_linked: {
    means: 'the workspace is linked to no server',
    next: 'svc login URL on this machine, then svc link in the workspace',
  },
  no_workspace: {
    means: 'there is no svc.yaml in this folder or above it',
    next: 'go to the workspace, or make one with svc init',
  },
  engine_not_running: {
    means: 'no engine runs for the workspace, and this call starts none',
    next: 'start it with svc up',
  },
  // what has changed meanwhile
  conflict: {
    means: 'the state that it is in does not allow this, or somebody else was first',
    next: 'look at it as it is now, and decide anew',
  },
  inputs_changed: {
    means: 'what would run is not what was approved: the configuration or the checkout has changed since',
    next: 'look at the decision that waits in its place, svc decision list, and approve it or not',
  },
  replayed: {
    means: 'a request with this signature was accepted already',
    next: 'sign anew, with a timestamp of its own; docs/receiver.md has how to repeat a request safely',
  },
  already_decided: {
    means: 'the decision was approved, denied or replaced already',
    next: 'nothing; svc decision show has who decided',
  },
  displaced: {
    means: 'another engine uses the token of this workspace, and the linked server talks to that one now',
    next: 'run one engine for a workspace; a copy of its folder is linked anew with svc link',
  },
  login_refused: {
    means: 'the linked server did not let this machine log in',
    next: 'start anew with svc login, and type the code in before it runs out',
  },
  already_running: {
    means: 'an engine hosts this workspace already, or the run was started already',
    next: 'use the one that runs, or stop it with svc down first',
  },
  idempotency_conflict: {
    means: 'the key of this request was used for a different one',
    next: 'send a different request under a key of its own',
  },
  promote_conflict: {
    means: 'the branch does not merge into its base without conflicts; nothing was changed',
    next: 'let the session resolve them on its branch with svc worker resume, then promote again',
  },
  checkout_dirty: {
    means:
      'the checkout has uncommitted changes in files that would be replaced, or something else goes on in it',
    next: 'commit or set aside what is there, and try again',
  },
  worktree_unsafe: {
    means: 'a folder is not what svc has made there, and touching it could lose work',
    next: 'look at it by hand; svc project repin when the repository was replaced on purpose',
  },
  address_in_use: {
    means: 'another program listens on this address',
    next: 'end it, or choose another port',
  },
  cancelled: {
    means: 'whoever waited for it has gone, or a person has stopped it',
    next: 'nothing, unless that was by mistake',
  },
  exists: {
    means: 'something else is there already, and it is never overwritten',
    next: 'move it away, or choose another name',
  },
  lock_held: {
    means: 'somebody else holds a lock on the path, on a folder above it, or on something below it',
    next: 'wait until it is released or has run out, or write to its holder with svc msg send',
  },
  item_held: {
    means: 'somebody else has claimed this item of the ledger',
    next: 'claim another item, or wait until this one is released',
  },
  ask_closed: {
    means: 'the question was answered already, or nobody waits for its answer any more',
    next: 'read its answer with svc ask show',
  },
  // what is wrong here
  gateway_unroutable: {
    means:
      'agents.auth says that model calls of the agent go through the gateway, and its command cannot be led there',
    next: 'correct its command in agents.cmds; agents.auth account, or SVC_GATEWAY_BYPASS=1 for one dispatch, lets the agent use its own login',
  },
  gateway_unreachable: {
    means: 'model calls of the agent go through the gateway, which could not be started or does not answer',
    next: 'svc gateway serve says why; agents.auth account, or SVC_GATEWAY_BYPASS=1 for one dispatch, lets the agent use its own login',
  },
  answer_invalid: {
    means: 'a model provider sent an answer that is not in its protocol, or broke it off',
    next: 'try again; when it stays, look at the provider with svc gateway status',
  },
  budget_exceeded: {
    means: 'the tokens or the money that may be spent are spent',
    next: 'allow more, or split the task',
  },
  not_a_repository: {
    means: 'the folder is in no git repository',
    next: 'git init, or run it with --inplace',
  },
  repository_empty: {
    means: 'the repository has no commit to begin from',
    next: 'commit something',
  },
  git_failed: {
    means: 'a git command failed',
    next: 'correct what the failure names',
  },
  agent_not_found: {
    means: 'the program of the agent is not on the PATH of the engine',
    next: 'install it, or correct the command under agents.cmds',
  },
  program_failed: {
    means: 'a program of the person, such as git push or gh, ended with an error, whose own words follow',
    next: 'do what it says, and try again',
  },
  spawn_failed: {
    means: 'a process could not be started',
    next: 'correct what the failure names',
  },
  setup_failed: {
    means: 'a setup command of the project failed',
    next: 'read the log, and correct the command or what it needs',
  },
  secret_missing: {
    means: 'the variable that has to hold a secret is not set, or no variable is named in svc.yaml',
    next: 'set it where the engine starts or in keys.env of the machine home; then svc down, svc up',
  },
  storage_failed: {
    means: 'a file in the data folder, such as the database, cannot be read or written',
    next: 'correct what the message names; what was acknowledged before is kept',
  },
  storage_full: {
    means: 'the disk is full; this was not saved',
    next: 'free some space, and try again; what was acknowledged before is kept',
  },
  storage_newer: {
    means: 'the database was written by a newer svc',
    next: 'use that version of svc, or a newer one',
  },
  lease_required: {
    means:
      'SVC_REQUIRE_LEASE is set, and the workspace has no valid lease of a linked server; what was to start waits as it was',
    next: 'svc entitlements says why; link the workspace, or let it reach its server',
  },
  lease_invalid: {
    means:
      "a lease is not one of the linked server's for this workspace; one that was valid before goes on until it ends",
    next: 'link the workspace again if the server has a new key',
  },
  capability_locked: {
    means:
      "the account's plan, or its add-ons, do not have this; nothing that works without a server is ever locked",
    next: 'whoever runs the linked server switches it on: svc server account',
  },
  quota_exceeded: {
    means: "the account's plan has room for fewer of these; nothing was deleted or stopped",
    next: 'use fewer, or have another plan assigned: svc server account plan',
  },
  key_mismatch: {
    means: "the linked server's database was made with another root secret",
    next: 'start it with that SVC_LEASE_SECRET or server.key; svc keeps no copy',
  },
  storage_unsafe: {
    means: 'a file or socket of svc is a link, or others can change it, and svc does not open it',
    next: 'look at it by hand; svc doctor checks the data folder',
  },
  engine_unreachable: {
    means: 'an engine runs, or should, and does not answer',
    next: 'try again; if it stays so, svc down and svc up, and read .svc/log',
  },
  engine_closing: {
    means: 'the engine is stopping',
    next: 'start it with svc up, and send the same again',
  },
  tool_missing: {
    means: 'a program that svc needs is missing: git, or bwrap with guard.profile strict',
    next: 'install it; svc doctor says more',
  },
  confinement_unavailable: {
    means: 'guard.profile is strict, and no sandbox can be made here',
    next: 'svc doctor says why; docs/confinement.md has the reasons',
  },
  protocol_mismatch: {
    means: 'the linked server and this machine do not speak the same protocol: one of them is older',
    next: 'update the one that the message names',
  },
  server_unreachable: {
    means: 'the linked server does not answer, or not as one',
    next: 'check its address and that it runs; work goes on without it',
  },
  internal: {
    means: 'a fault of svc itself',
    next: 'read the log of the engine in .svc/log; with DEBUG=1 a command says where it failed',
  },
};
