/** What a machine does with a linked server, without an engine. */
export {
  askLoginState,
  checkServerUrl,
  findLogin,
  type LoginPrompt,
  type LoginState,
  logIn,
  logOut,
} from '../link/machine-login.ts';
