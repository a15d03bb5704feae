# frozen_string_literal: true

# A legacy authorization server with Doorkeeper 5.5 and Rails 6.1 of Debian 12: the engine below `/oauth`, its own SQLite
# database, and for each client id a confidential client with the web redirect URIs and the same secret. The columns for PKCE,
# which a separate migration adds, are missing, so PKCE parameters are ignored.
#
# Its behaviour: the authorization endpoint remembers its URL in the session and redirects to the login page, the consent
# form posts its parameters as hidden fields to the authorization endpoint without a query, with a CSRF token, and a second
# form denies. After the first grant, the same client, user and scope need no consent. Errors of the authorization request
# are pages with status 200. The client authenticates with HTTP Basic or with fields of the body.
#
# Usage: doorkeeper_server.rb REDIRECT_URIS [SIGNING_KEY CLIENT_ID...], the URIs separated by spaces; there are no ID
# tokens, so the key is not used
# The first line of the output is the port.

ENV["RAILS_ENV"] = "production"

require "logger"
require "securerandom"
require "socket"
require "tmpdir"
require "webrick"
require "rails"
require "active_record/railtie"
require "action_controller/railtie"
require "rack/handler/webrick"
require "doorkeeper"

USERS = { "ada" => "correct horse" }.freeze
FOLDER = Dir.mktmpdir("doorkeeper-")
# Before Rails starts, and also after SIGTERM.
at_exit { FileUtils.remove_entry(FOLDER) }

class Application < Rails::Application
  config.root = FOLDER
  config.load_defaults 6.1
  config.eager_load = false
  config.secret_key_base = SecureRandom.hex(64)
  config.session_store :cookie_store, key: "_example_session"
  config.logger = Logger.new($stderr)
  config.log_level = :warn
end

class User < ActiveRecord::Base
end

Doorkeeper.configure do
  orm :active_record
  use_refresh_token
  default_scopes :profile
  optional_scopes :notes
  enforce_configured_scopes
  # The address of the gateway, or of the test without a gateway, is on loopback.
  force_ssl_in_redirect_uri false
  resource_owner_authenticator do
    User.find_by(id: session[:user]) || begin
      session[:return_to] = request.fullpath
      redirect_to "/users/sign_in"
    end
  end
end

class SessionsController < ActionController::Base
  LOGIN = <<~ERB
    <!doctype html><title>Log in</title><h1>Log in</h1>
    <%= form_with url: "/users/sign_in", local: true do |form| %>
      <%= form.label :username, "Name" %> <%= form.text_field :username %>
      <%= form.label :password %> <%= form.password_field :password %>
      <%= form.submit "Log in" %>
    <% end %>
  ERB

  def new
    render inline: LOGIN
  end

  def create
    name = params[:username].to_s
    unless USERS[name] && USERS[name] == params[:password]
      return render inline: "<p>Wrong name or password.</p>" + LOGIN, status: :unauthorized
    end

    target = session[:return_to] || "/"
    reset_session
    session[:user] = User.find_by!(name: name).id
    redirect_to target
  end
end

class MeController < ActionController::Base
  before_action -> { doorkeeper_authorize! :profile }

  def show
    owner = User.find(doorkeeper_token.resource_owner_id)
    render json: { user: owner.name, scope: doorkeeper_token.scopes.to_s, client_id: doorkeeper_token.application.uid }
  end
end

# Creates the tables, those of Doorkeeper with its own migration, and the user.
def create_database
  require "erb"
  ActiveRecord::Migration.verbose = false
  template = File.join(Gem.loaded_specs["doorkeeper"].full_gem_path, "lib/generators/doorkeeper/templates/migration.rb.erb")
  migration_version = "[6.1]"
  TOPLEVEL_BINDING.eval(ERB.new(File.read(template)).result(binding))
  CreateDoorkeeperTables.new.migrate(:up)
  ActiveRecord::Schema.define { create_table(:users) { |t| t.string :name, null: false } }
  USERS.each_key { |name| User.create!(name: name) }
end

ENV["DATABASE_URL"] = "sqlite3:#{FOLDER}/database?timeout=5000"
Application.initialize!
create_database
["legacy-web", *ARGV.drop(2)].uniq.each do |id|
  Doorkeeper::Application.create!(
    name: "Example on the web", uid: id, secret: "legacy-secret-of-the-server", redirect_uri: ARGV.fetch(0)
  )
end
Application.routes.draw do
  use_doorkeeper { skip_controllers :applications }
  get "/users/sign_in", to: "sessions#new"
  post "/users/sign_in", to: "sessions#create"
  get "/api/me", to: "me#show"
end

log = WEBrick::Log.new($stderr, WEBrick::Log::WARN)
server = WEBrick::HTTPServer.new(BindAddress: "127.0.0.1", Port: 0, Logger: log, AccessLog: [])
server.mount "/", Rack::Handler::WEBrick, Application
trap("TERM") { server.shutdown }
$stdout.puts server.config[:Port]
$stdout.flush
server.start
