import HTTP

/// The legacy server's pages, which look like pages of 2009.
enum LegacyPage {
  static func home(user: String?) -> Response {
    page(
      status: 200, "Welcome",
      user.map {
        """
        <p>You are signed in as <b>\(escaped($0))</b>.</p>
        <p><a href="/logout">Sign out</a></p>
        """
      } ?? """
        <p>Your mail, contacts and photos in one place.</p>
        <p><a href="/login">Sign in</a></p>
        """)
  }

  /// Returns the login page. Its form contains `next`, the path and query to open after the login.
  static func login(next: String, failed: Bool) -> Response {
    page(
      status: 200, "Sign in",
      """
      \(failed ? "<p class=\"error\">The user name or the password is wrong.</p>" : "")
      <form method="post" action="/login">
      <input type="hidden" name="next" value="\(escaped(next))">
      <p><label for="username">User name</label><br><input type="text" id="username" name="username" size="30"></p>
      <p><label for="password">Password</label><br><input type="password" id="password" name="password" size="30"></p>
      <p><input type="submit" value="Sign in"></p>
      </form>
      <p class="small">For the demo: user name <b>alice</b>, password <b>wonderland</b></p>
      """)
  }

  /// Returns the consent page. Its form contains all parameters of the request in hidden fields and posts to `path`.
  static func consent(client: LegacyClient, user: String, parameters: Form, path: String) -> Response {
    let hidden = parameters.fields.map {
      "<input type=\"hidden\" name=\"\(escaped($0.name))\" value=\"\(escaped($0.value))\">"
    }
    return page(
      status: 200, "Authorize application",
      """
      <p>Hello <b>\(escaped(user))</b>! The application <b>\(escaped(client.name))</b> would like to use your account.</p>
      <p>It asks for: <b>\(escaped(parameters["scope"] ?? "basic"))</b></p>
      <form method="post" action="\(escaped(path))">
      \(hidden.joined(separator: "\n"))
      <p><button type="submit" name="confirm" value="yes">Allow access</button>
      <button type="submit" name="confirm" value="no">Deny</button></p>
      </form>
      """)
  }

  /// Returns the page on which a user enters the code of a device and decides.
  static func activation(user: String, path: String) -> Response {
    page(
      status: 200, "Connect a device",
      """
      <p>Hello <b>\(escaped(user))</b>! Type the code that your device shows.</p>
      <form method="post" action="\(escaped(path))">
      <p><input type="text" name="user_code" size="12"></p>
      <p><button type="submit" name="confirm" value="yes">Allow access</button>
      <button type="submit" name="confirm" value="no">Deny</button></p>
      </form>
      """)
  }

  static func message(status: Int, _ title: String, _ message: String) -> Response {
    page(status: status, title, "<p>\(escaped(message))</p>\n<p><a href=\"/\">Back to the home page</a></p>")
  }

  /// - Parameter content: Markup. The caller has escaped all values in it with ``escaped(_:)``.
  private static func page(status: Int, _ title: String, _ content: String) -> Response {
    let html = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width">
      <title>\(escaped(title)) - Acme Accounts</title>
      <style>
      body { margin: 0; background: #d7e3ef; color: #333; font: 13px/1.5 Verdana, Tahoma, sans-serif; }
      #head { background: #3b6ea5; background: linear-gradient(#6d9bcb, #2c5a8f); color: #fff;
        border-bottom: 3px solid #f7941d; padding: 14px 20px; font: bold 20px "Trebuchet MS", Verdana, sans-serif;
        text-shadow: 0 1px 1px #123; }
      #box { max-width: 460px; margin: 30px auto; background: #fff; border: 1px solid #9db6cf;
        box-shadow: 0 2px 6px #9ab; }
      #box h1 { margin: 0; padding: 8px 16px; background: #eef4fa; border-bottom: 1px solid #c7d7e7; color: #2c5a8f;
        font: bold 15px "Trebuchet MS", Verdana, sans-serif; }
      #in { padding: 6px 16px 12px; }
      a { color: #2c5a8f; }
      .error { color: #a00; background: #fee; border: 1px solid #d99; padding: 5px 8px; }
      .small, #foot { font-size: 11px; color: #555; }
      #foot { text-align: center; }
      </style>
      </head>
      <body>
      <div id="head">Acme Accounts</div>
      <main id="box"><h1>\(escaped(title))</h1>
      <div id="in">
      \(content)
      </div></main>
      <p id="foot">&copy; 2009 Acme. Best viewed at 1024 x 768.</p>
      </body>
      </html>

      """
    return Response(
      status: status, headers: ["Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache"],
      body: Array(html.utf8))
  }

  /// Escapes a value for text and for quoted attribute values.
  private static func escaped(_ value: String) -> String {
    var result = ""
    for scalar in value.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "'": result += "&#39;"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
